#include <algorithm>

#include "inference/constraints/constraint.h"
#include "inference/constraints/formats.h"
#include "inference/constraints/gbnf.h"
#include "inference/constraints/numbers.h"
#include "inference/constraints/regex.h"
#include "inference/constraints/schema_grammar.h"
#include "inference/error.h"
#include "inference/tokenizer/utf8.h"

namespace glmhost::constraints {
namespace {

constexpr std::size_t kMostChoiceBytes = 64u << 20;
constexpr int kWidestGrid = 32;

std::shared_ptr<Grammar> of_automaton(const DfaPointer& dfa) {
  auto grammar = std::make_shared<Grammar>();
  grammar->root = automaton_rule(*grammar, dfa);
  return grammar;
}

std::shared_ptr<Grammar> of_choices(const std::vector<std::string>& choices) {
  if (choices.empty()) throw Error(ErrorKind::bad_argument, "The list of choices is empty: name at least one.");
  std::size_t bytes = 0;
  for (const std::string& choice : choices) {
    if (choice.empty())
      throw Error(ErrorKind::bad_argument, "One of the choices is empty: an answer must say something.");
    if (!tokenizer::is_valid_utf8(choice))
      throw Error(ErrorKind::bad_argument, "One of the choices is not valid UTF-8.");
    bytes += choice.size();
  }
  if (bytes > kMostChoiceBytes) throw Error(ErrorKind::bad_argument, "The choices are more than 64 MiB of text.");
  return of_automaton(literals(choices));
}

// A row of one width throughout: the grammar knows the width from the first row on.
std::string grid_schema() {
  std::string schema = R"({"anyOf":[)";
  for (int width = 1; width <= kWidestGrid; ++width) {
    const std::string number = std::to_string(width);
    schema += (width == 1 ? "" : ",") + (R"({"type":"array","minItems":1,"items":{"type":"array","minItems":)" +
                                         number + R"(,"maxItems":)" + number + R"(,"items":{"$ref":"#/$defs/cell"}}})");
  }
  return schema + R"(],"$defs":{"cell":{"type":["string","number","boolean","null"]}}})";
}

std::shared_ptr<Grammar> of_type(const Spec& spec) {
  if (spec.text == "number") return of_automaton(usual_numerals(false));
  if (spec.text == "date") return of_automaton(format_dfa("date"));
  if (spec.text == "boolean") return of_automaton(literals({"true", "false"}));
  Spec schema = spec;
  schema.kind = Spec::Kind::json_schema;
  if (spec.text == "list") {
    schema.text = R"({"type":"array","items":{"type":["string","number","boolean","null"]}})";
  } else if (spec.text == "grid") {
    schema.text = grid_schema();
  } else {
    throw Error(ErrorKind::bad_argument, "There is no type `" +
                                             tokenizer::replace_invalid_utf8(spec.text.substr(0, 40)) +
                                             "`: the types are number, date, boolean, list and grid.");
  }
  return schema_grammar(schema);
}

// One among several alternatives would be left out in silence.
void check_schemas(const Grammar& grammar) {
  const bool all =
      std::ranges::all_of(grammar.rules, [](const Rule& rule) { return rule.productive || rule.name != kSchemaRule; });
  if (!all) {
    throw Error(ErrorKind::bad_argument, "A schema in the grammar contradicts itself: no value satisfies it.");
  }
}

}  // namespace

std::shared_ptr<const Grammar> compile_grammar(const Spec& spec) {
  std::shared_ptr<Grammar> grammar;
  std::string nothing_matches;
  switch (spec.kind) {
    case Spec::Kind::json_schema:
      grammar = schema_grammar(spec);
      nothing_matches = "The schema contradicts itself: no JSON value satisfies it.";
      break;
    case Spec::Kind::regex:
      grammar = of_automaton(regex_dfa(spec.text, Match::whole));
      nothing_matches = "No text matches the regular expression.";
      break;
    case Spec::Kind::grammar:
      grammar = gbnf_grammar(spec);
      nothing_matches = "No text matches the grammar: `root` never comes to an end.";
      break;
    case Spec::Kind::choice:
      grammar = of_choices(spec.choices);
      break;
    case Spec::Kind::type:
      grammar = of_type(spec);
      break;
  }
  grammar->finish(nothing_matches);
  if (spec.kind == Spec::Kind::grammar) check_schemas(*grammar);
  return grammar;
}

}  // namespace glmhost::constraints
