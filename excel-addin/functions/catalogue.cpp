#include "excel-addin/functions/catalogue.h"

#include <array>
#include <string>
#include <vector>

namespace glmhost::functions {
namespace {

using Kind = ArgumentInfo::Kind;
constexpr std::string_view kCategory = "GLM";

constexpr ArgumentInfo kPrompt = {"prompt1", "What the model is asked to do, in plain words."};
constexpr ArgumentInfo kContext = {"context1", "A value or cells that the prompt is about. May be left out.", Kind::any,
                                   true};
constexpr ArgumentInfo kInstructions = {"instructions", "What else the model should mind, in plain words.", Kind::any,
                                        true};

constexpr std::array kAsk = {kPrompt, kContext};
constexpr std::array kWith = {
    ArgumentInfo{"options", "Such as \"model=glm-4; temperature=0.5; max_tokens=200; seed=7; thinking=on\"."}, kPrompt,
    kContext};
constexpr std::array kList = {ArgumentInfo{"prompt", "What the list should hold."},
                              ArgumentInfo{"context", "A value or cells that the prompt is about.", Kind::any, true},
                              ArgumentInfo{"max", "At most so many entries (100 when left out).", Kind::any, true}};
constexpr std::array kGrid = {
    ArgumentInfo{"prompt", "What the table should hold."},
    ArgumentInfo{"headers", "One name for each column; a type may follow: \"price:number\", \"due:date\"."},
    ArgumentInfo{"context", "A value or cells that the prompt is about.", Kind::any, true}};
constexpr std::array kClassify = {ArgumentInfo{"values", "The value, or the cells, to put into classes."},
                                  ArgumentInfo{"labels", "The labels: cells, or an array such as {\"yes\",\"no\"}."},
                                  kInstructions};
constexpr std::array kExtract = {
    ArgumentInfo{"texts", "The text, or a column of cells, to read from."},
    ArgumentInfo{"fields", "What to find, with a type if wanted: {\"name\",\"amount:number\",\"due:date\"}."},
    kInstructions};
constexpr std::array kSummarize = {ArgumentInfo{"range", "The cells, or the text, to sum up."},
                                   ArgumentInfo{"words", "About how many words (50 when left out).", Kind::any, true}};
constexpr std::array kTranslate = {ArgumentInfo{"values", "The text, or the cells, to translate."},
                                   ArgumentInfo{"language", "The language to translate into, such as \"French\"."}};
constexpr std::array kTable = {
    ArgumentInfo{"pipeline", "Stages such as \"filter amount > 100 | group region (n = COUNT())\"."},
    ArgumentInfo{"table1", "The range that the first stage gets, with names in its first row."}};
constexpr std::array kOfCell = {ArgumentInfo{"cell", "A cell with a GLM formula.", Kind::cell}};

constexpr std::array<FunctionInfo, 16> kFunctions = {{
    {FunctionId::glm, "GLM", kCategory, "Asks the local model; prompts and contexts may alternate.",
     "=GLM(\"Shorten this:\", A2)", kAsk, 2, false, true},
    {FunctionId::with, "GLM.WITH", kCategory, "Asks the local model with options.",
     "=GLM.WITH(\"max_tokens=50; seed=7\", \"A slogan for\", A2)", kWith, 2, false, true},
    {FunctionId::number, "GLM.NUMBER", kCategory, "Asks the local model for a number.",
     "=GLM.NUMBER(\"How many people are named here?\", A2)", kAsk, 2, false, true},
    {FunctionId::date, "GLM.DATE", kCategory, "Asks the local model for a date.",
     "=GLM.DATE(\"When is this invoice due?\", A2)", kAsk, 2, false, true},
    {FunctionId::boolean, "GLM.BOOL", kCategory, "Asks the local model for TRUE or FALSE.",
     "=GLM.BOOL(\"Is this a complaint?\", A2)", kAsk, 2, false, true},
    {FunctionId::list, "GLM.LIST", kCategory, "Asks the local model for a list, spilled down a column.",
     "=GLM.LIST(\"Colours of a rainbow\", , 7)", kList, 0, true, true},
    {FunctionId::grid, "GLM.GRID", kCategory, "Asks the local model for a table, spilled with its headers.",
     "=GLM.GRID(\"Planets\", {\"name\",\"moons:number\"})", kGrid, 0, true, true},
    {FunctionId::classify, "GLM.CLASSIFY", kCategory, "Gives each value one of the labels.",
     "=GLM.CLASSIFY(A2:A99, {\"praise\",\"complaint\",\"question\"})", kClassify, 0, true, true},
    {FunctionId::extract, "GLM.EXTRACT", kCategory, "Finds fields in each text; a row of values for each.",
     "=GLM.EXTRACT(A2:A99, {\"sender\",\"amount:number\",\"due:date\"})", kExtract, 0, true, true},
    {FunctionId::summarize, "GLM.SUMMARIZE", kCategory, "Sums up cells or a text.", "=GLM.SUMMARIZE(A1:D40, 30)",
     kSummarize, 0, false, true},
    {FunctionId::translate, "GLM.TRANSLATE", kCategory, "Translates each value.", "=GLM.TRANSLATE(A2:A9, \"German\")",
     kTranslate, 0, true, true},
    {FunctionId::table, "GLM.TABLE", kCategory, "Runs a table pipeline over ranges; needs no model.",
     "=GLM.TABLE(\"group region (total = SUM(amount)) | sort -total\", A1:D5000)", kTable, 1, true, true},
    {FunctionId::status, "GLM.STATUS", kCategory, "Whether a cell's answer is pending, done, failed or cancelled.",
     "=GLM.STATUS(B2)", kOfCell, 0, false, true},
    {FunctionId::error, "GLM.ERROR", kCategory, "The sentence behind a cell's error value.", "=GLM.ERROR(B2)", kOfCell,
     0, false, true},
    {FunctionId::models, "GLM.MODELS", kCategory, "The models that there are.", "=GLM.MODELS()", {}, 0, true, true},
    {FunctionId::version, "GLM.VERSION", kCategory, "The version of GLM Host.", "=GLM.VERSION()", {}, 0, false, false},
}};

// "prompt1" as the third of its kind is "prompt3".
std::string numbered(std::string_view name, std::size_t n) {
  return std::string(name.substr(0, name.find_last_not_of("0123456789") + 1)) + std::to_string(n);
}

std::string names_of(const FunctionInfo& function) {
  std::string names;
  const std::size_t fixed = function.arguments.size();
  std::size_t count = fixed;
  if (function.repeating > 0) count += (kMostArguments - fixed) / function.repeating * function.repeating;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) names += ",";
    if (i < fixed) {
      names += function.arguments[i].name;
    } else {
      const std::size_t behind = i - fixed;
      names += numbered(function.arguments[fixed - function.repeating + behind % function.repeating].name,
                        behind / function.repeating + 2);
    }
  }
  return names;
}

}  // namespace

std::span<const FunctionInfo> catalogue() {
  return kFunctions;
}

const FunctionInfo& info(FunctionId id) {
  return kFunctions[static_cast<std::size_t>(id)];
}

std::string_view argument_names(FunctionId id) {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const FunctionInfo& function : kFunctions) all.push_back(names_of(function));
    return all;
  }();
  return names[static_cast<std::size_t>(id)];
}

}  // namespace glmhost::functions
