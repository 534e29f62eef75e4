#include <algorithm>
#include <array>
#include <string>

#include "excel-addin/functions/catalogue.h"

namespace glmhost::functions {
namespace {

using Kind = ArgumentInfo::Kind;

constexpr ArgumentInfo kPrompt1{"prompt1", "Text for the model"};
constexpr ArgumentInfo kContext1{"context1", "A cell or range that the prompt is about", Kind::any, true};
constexpr ArgumentInfo kPrompt2{"prompt2", "More text for the model", Kind::any, true};
constexpr ArgumentInfo kContext2{"context2", "Another cell or range", Kind::any, true};
constexpr ArgumentInfo kInstructions{"instructions", "What else the model should know", Kind::any, true};

constexpr std::array kPrompts = {kPrompt1, kContext1, kPrompt2, kContext2};
constexpr std::array kWith = {
    ArgumentInfo{"options", "As in \"model=smollm2-135m; temperature=0.7; max_tokens=200; seed=1; thinking=on\""},
    kPrompt1, kContext1, kPrompt2, kContext2};
constexpr std::array kList = {ArgumentInfo{"prompt", "What to list"},
                              ArgumentInfo{"context", "A cell or range that it is about", Kind::any, true},
                              ArgumentInfo{"max", "The most entries", Kind::any, true}};
constexpr std::array kGrid = {ArgumentInfo{"prompt", "What the table is about"},
                              ArgumentInfo{"headers", "As in {\"name\",\"price:number\",\"since:date\"}"},
                              ArgumentInfo{"context", "A cell or range that it is about", Kind::any, true}};
constexpr std::array kClassify = {ArgumentInfo{"values", "The texts to classify"},
                                  ArgumentInfo{"labels", "The labels, in cells or as \"one, two, three\""},
                                  kInstructions};
constexpr std::array kExtract = {ArgumentInfo{"texts", "The texts to read"},
                                 ArgumentInfo{"fields", "As in {\"amount:number\",\"due:date\"}"}, kInstructions};
constexpr std::array kSummarize = {ArgumentInfo{"range", "What to summarize"},
                                   ArgumentInfo{"words", "The most words; 60 when left out", Kind::any, true}};
constexpr std::array kTranslate = {ArgumentInfo{"values", "The texts to translate"},
                                   ArgumentInfo{"language", "As in \"French\""}};
constexpr std::array kTable = {ArgumentInfo{"pipeline", "As in \"filter amount > 100 | sort -amount\""},
                               ArgumentInfo{"table1", "A range with headers in its first row"},
                               ArgumentInfo{"table2", "Another one, for joins", Kind::any, true}};
constexpr std::array kCell = {ArgumentInfo{"cell", "A cell with a GLM formula", Kind::cell}};

constexpr std::array<FunctionInfo, 16> kCatalogue = {{
    {FunctionId::glm, "GLM", "GLM", "The model's answer to a prompt, as text.", "=GLM(\"Summarize\", A1:B9)", kPrompts,
     2},
    {FunctionId::with, "GLM.WITH", "GLM", "The model's answer, with options.", "=GLM.WITH(\"seed=1\", \"Hi\")", kWith,
     2},
    {FunctionId::number, "GLM.NUMBER", "GLM", "The model's answer, as a number.", "=GLM.NUMBER(\"2+2\")", kPrompts, 2},
    {FunctionId::date, "GLM.DATE", "GLM", "The model's answer, as a date.", "=GLM.DATE(\"When?\", A1)", kPrompts, 2},
    {FunctionId::boolean, "GLM.BOOL", "GLM", "The model's answer, TRUE or FALSE.", "=GLM.BOOL(\"Polite?\", A1)",
     kPrompts, 2},
    {FunctionId::list, "GLM.LIST", "GLM", "A list, one entry in each row.", "=GLM.LIST(\"Colours\", , 5)", kList, 0,
     true},
    {FunctionId::grid, "GLM.GRID", "GLM", "A table with these headers.", "=GLM.GRID(\"Planets\", \"name\")", kGrid, 0,
     true},
    {FunctionId::classify, "GLM.CLASSIFY", "GLM", "One of the labels for each value.",
     "=GLM.CLASSIFY(A2:A9, \"good, bad\")", kClassify, 0, true},
    {FunctionId::extract, "GLM.EXTRACT", "GLM", "The fields that each text names, a row for each text.",
     "=GLM.EXTRACT(A2:A9, {\"amount:number\"})", kExtract, 0, true},
    {FunctionId::summarize, "GLM.SUMMARIZE", "GLM", "A summary of a range.", "=GLM.SUMMARIZE(A1:B9, 40)", kSummarize},
    {FunctionId::translate, "GLM.TRANSLATE", "GLM", "Each value in another language.", "=GLM.TRANSLATE(A1, \"French\")",
     kTranslate, 0, true},
    {FunctionId::table, "GLM.TABLE", "GLM", "The result of a pipeline of the table language.",
     "=GLM.TABLE(\"take 5\", A1:B9)", kTable, 1, true},
    {FunctionId::status, "GLM.STATUS", "GLM", "Whether a cell's answer is there: pending, done or failed.",
     "=GLM.STATUS(B2)", kCell, 0, false, false},
    {FunctionId::error, "GLM.ERROR", "GLM", "The sentence behind the error value of a cell.", "=GLM.ERROR(B2)", kCell,
     0, false, false},
    {FunctionId::models, "GLM.MODELS", "GLM", "The models that are there, as a table.", "=GLM.MODELS()", {}, 0, true},
    {FunctionId::version, "GLM.VERSION", "GLM", "The version of this add-in.", "=GLM.VERSION()", {}, 0, false, false},
}};

std::string names_of(const FunctionInfo& function) {
  std::string names;
  for (const ArgumentInfo& argument : function.arguments) {
    if (!names.empty()) names += ',';
    names += argument.optional ? "[" + std::string(argument.name) + "]" : std::string(argument.name);
  }
  return function.repeating > 0 ? names + ",..." : names;
}

}  // namespace

std::span<const FunctionInfo> catalogue() {
  return kCatalogue;
}

const FunctionInfo& info(FunctionId id) {
  return kCatalogue[static_cast<std::size_t>(id)];
}

std::string_view argument_names(FunctionId id) {
  static const std::array<std::string, kCatalogue.size()> all = [] {
    std::array<std::string, kCatalogue.size()> made;
    std::ranges::transform(kCatalogue, made.begin(), names_of);
    return made;
  }();
  return all[static_cast<std::size_t>(id)];
}

}  // namespace glmhost::functions
