#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

#include "host/cli/command.h"
#include "host/cli/console.h"
#include "host/cli/json_lines.h"
#include "host/cli/json_text.h"
#include "host/cli/model_access.h"
#include "host/cli/verbs.h"
#include "inference/constraints/constraint.h"
#include "inference/constraints/schema_document.h"
#include "inference/tokenizer/tokenizer.h"

namespace glmhost::cli {
namespace {

using constraints::Constraint;
using constraints::ConstraintState;
using constraints::Spec;
using Clock = std::chrono::steady_clock;

constexpr CommandText kText = {
    .verb = "grammar",
    .words = "check | bench FILE",
    .summary = "Test a schema, a regular expression or a grammar",
    .details =
        "`check` walks a text token by token and tells whether the constraint takes it, where it stops, and what the "
        "token masks cost. `bench` does so for many schemas: each line of FILE has {\"schema\": ..., \"tests\": "
        "[{\"valid\": true, \"data\": ...}]}. A vocabulary-only file is enough as MODEL. `position` counts bytes; "
        "times of masks are in microseconds.",
    .examples =
        "  glm grammar check --json-schema person.json --text-file answer.json --json\n"
        "  glm grammar check --regex \"[A-Z]{3}-[0-9]+\" --text-file answer.txt\n"
        "  glm grammar bench -m model.gguf schemas.jsonl --json",
};

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

class Durations {
 public:
  void add(double microseconds) { all_.push_back(microseconds); }
  double average() const {
    double sum = 0;
    for (const double one : all_) sum += one;
    return all_.empty() ? 0 : sum / static_cast<double>(all_.size());
  }
  // The smallest duration that PART of all do not exceed.
  double quantile(double part) const {
    if (all_.empty()) return 0;
    std::vector<double> sorted = all_;
    const auto index = std::min(static_cast<std::size_t>(part * static_cast<double>(sorted.size())), sorted.size() - 1);
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(index), sorted.end());
    return sorted[index];
  }
  Json json() const {
    return {{"count", all_.size()}, {"average", average()}, {"p50", quantile(0.5)}, {"p99", quantile(0.99)}};
  }

 private:
  std::vector<double> all_;
};

struct Walk {
  bool accepted = false;     // all tokens of the text
  bool complete = false;     // and it may end there
  std::size_t position = 0;  // bytes taken
};

// Token by token, each time with the whole mask, as sampling would.
Walk walk(ConstraintState& state, const tokenizer::Tokenizer& tokenizer, const std::string& text, Durations& masks) {
  Walk result;
  for (const std::int32_t token : tokenizer.encode(text, tokenizer::Markers::none)) {
    const auto start = Clock::now();
    const bool allowed = constraints::bit_is_set(state.mask(), token);
    masks.add(microseconds_since(start));
    if (!allowed || !state.accept(token)) return result;
    result.position += tokenizer.bytes(token).size();
  }
  const auto start = Clock::now();
  state.mask();
  masks.add(microseconds_since(start));
  result.accepted = true;
  result.complete = state.can_end();
  return result;
}

Spec spec_of(const std::string& schema, const std::string& regex, const std::string& grammar, bool any_format) {
  Spec spec;
  spec.assert_formats = !any_format;
  if (!schema.empty()) {
    spec.kind = Spec::Kind::json_schema;
    spec.text = read_file_or_input(schema, kMostInput);
  } else if (!grammar.empty()) {
    spec.kind = Spec::Kind::grammar;
    spec.text = read_file_or_input(grammar, kMostInput);
  } else {
    spec.kind = Spec::Kind::regex;
    spec.text = regex;
  }
  return spec;
}

ExitCode check(const Spec& spec, const std::string& model, const std::string& text_file, bool json) {
  const tokenizer::Tokenizer tokenizer(open_model_file(model));
  const std::string text = read_file_or_input(text_file, kMostInput);
  const auto trie = std::make_shared<const constraints::TokenTrie>(tokenizer);

  const auto start = Clock::now();
  std::shared_ptr<const Constraint> constraint;
  try {
    constraint = constraints::compile(spec, trie);
  } catch (const Error& error) {
    throw Failure(ExitCode::usage, error.what());
  }
  ConstraintState state(constraint);
  const double compile_ms = microseconds_since(start) / 1000;
  Durations masks;
  const Walk result = walk(state, tokenizer, text, masks);
  if (json) {
    print(Json{{"accepted", result.accepted},
               {"complete", result.complete},
               {"position", result.position},
               {"compile_ms", compile_ms},
               {"mask_us_p50", masks.quantile(0.5)},
               {"mask_us_p99", masks.quantile(0.99)}}
              .dump() +
          "\n");
  } else if (!result.accepted) {
    print("Not accepted: the token that begins at byte " + std::to_string(result.position) + " is not allowed.\n");
  } else {
    print(result.complete ? "Accepted and complete.\n" : "Accepted so far; the text may not end here.\n");
  }
  return ExitCode::success;
}

class Bench {
 public:
  explicit Bench(const tokenizer::Tokenizer& tokenizer)
      : tokenizer_(tokenizer), trie_(std::make_shared<const constraints::TokenTrie>(tokenizer)) {}

  void add(std::size_t number, std::string_view line) {
    const Json entry = Json::parse(line, nullptr, false);
    if (!entry.is_object() || !entry.contains("schema") || !entry.contains("tests") || !entry["tests"].is_array()) {
      throw Failure(ExitCode::usage, "Line " + std::to_string(number) +
                                         " is not of the form {\"schema\": ..., \"tests\": [{\"valid\": ..., "
                                         "\"data\": ...}]}.");
    }
    ++schemas_;
    Spec spec;
    spec.text = entry["schema"].dump();
    const auto start = Clock::now();
    std::shared_ptr<const Constraint> constraint;
    try {
      constraint = constraints::compile(spec, trie_);
      ConstraintState(constraint).mask();
    } catch (const constraints::UnsupportedKeyword& error) {
      ++compile_errors_[error.keyword()];
      return note(entry, error.what());
    } catch (const Error& error) {
      ++compile_errors_["other"];
      return note(entry, error.what());
    }
    first_masks_.add(microseconds_since(start));
    bool passes = true;
    for (const Json& test : entry["tests"]) {
      const bool valid = test.is_object() && test.contains("valid") && test["valid"] == true;
      passes =
          run(entry, constraint, test.is_object() && test.contains("data") ? test["data"] : Json(), valid) && passes;
    }
    if (passes) ++passing_;
  }

  Json json() const {
    Json errors = Json::object();
    for (const auto& [keyword, count] : compile_errors_) errors[keyword] = count;
    return {{"schemas", schemas_},
            {"passing", passing_},
            {"compile_errors", std::move(errors)},
            {"valid", valid_},
            {"invalid", invalid_},
            {"valid_refused", valid_refused_},
            {"invalid_accepted", invalid_accepted_},
            {"tbm_us", masks_.json()},
            {"ttfm_us", first_masks_.json()},
            {"failures", failures_}};
  }

 private:
  bool run(const Json& entry, const std::shared_ptr<const Constraint>& constraint, const Json& data, bool valid) {
    ++(valid ? valid_ : invalid_);
    ConstraintState state(constraint);
    bool accepted = false;
    std::string problem;
    try {
      const Walk result = walk(state, tokenizer_, data.dump(), masks_);
      accepted = result.accepted && result.complete;
      problem = "byte " + std::to_string(result.position);
    } catch (const Error& error) {
      problem = error.what();
    }
    if (accepted == valid) return true;
    ++(valid ? valid_refused_ : invalid_accepted_);
    note(entry, valid ? "valid refused: " + problem : "invalid accepted");
    return false;
  }

  void note(const Json& entry, const std::string& what) {
    failures_.push_back({{"file", entry.value("file", std::string())}, {"what", what}});
  }

  const tokenizer::Tokenizer& tokenizer_;
  std::shared_ptr<const constraints::TokenTrie> trie_;
  std::size_t schemas_ = 0, passing_ = 0, valid_ = 0, invalid_ = 0, valid_refused_ = 0, invalid_accepted_ = 0;
  std::map<std::string, std::size_t> compile_errors_;
  Durations masks_, first_masks_;
  Json failures_ = Json::array();
};

ExitCode bench(const std::string& model, const std::string& file, bool json) {
  const tokenizer::Tokenizer tokenizer(open_model_file(model));
  Bench bench(tokenizer);
  for_each_line(read_file_or_input(file, kMostInput),
                [&](std::size_t number, std::string_view line) { bench.add(number, line); });
  const Json result = bench.json();
  if (json) {
    print(result.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
    return ExitCode::success;
  }
  for (const char* key :
       {"schemas", "passing", "valid_refused", "invalid_accepted", "compile_errors", "tbm_us", "ttfm_us"}) {
    print(std::string(key) + " " + result[key].dump() + "\n");
  }
  return ExitCode::success;
}

ExitCode grammar(VerbArguments arguments) {
  Command command(kText);
  std::string model, schema, regex, grammar_file, text_file;
  bool json = false, any_format = false;
  command.text("-m,--model", model, "MODEL", "A name from `glm models`, or a path to a .gguf file");
  command.text("--json-schema", schema, "FILE", "check: a JSON Schema; - for stdin");
  command.text("--regex", regex, "REGEX", "check: a regular expression that the whole text matches");
  command.text("--grammar", grammar_file, "FILE", "check: a grammar in GBNF; - for stdin");
  command.text("--text-file", text_file, "FILE", "check: the text; - for stdin");
  command.flag("--ignore-formats", any_format, "check: take `format` in a schema for a remark");
  command.flag("--json", json, "Print one JSON object");
  command.parse(arguments);
  const auto& words = command.words();
  if (words.size() == 2 && words[0] == "bench") return bench(model, words[1], json);
  if (words.size() != 1 || words[0] != "check") {
    throw Failure(ExitCode::usage, "Say what to do: `glm grammar check` or `glm grammar bench FILE`.");
  }
  const int sources = (command.given("--json-schema") ? 1 : 0) + (command.given("--regex") ? 1 : 0) +
                      (command.given("--grammar") ? 1 : 0);
  if (sources != 1 || text_file.empty()) {
    throw Failure(ExitCode::usage,
                  "`glm grammar check` needs --text-file and one of --json-schema, --regex and --grammar.");
  }
  return check(spec_of(schema, regex, grammar_file, any_format), model, text_file, json);
}

}  // namespace

const Verb kGrammar = {kText.verb, kText.summary, grammar};

}  // namespace glmhost::cli
