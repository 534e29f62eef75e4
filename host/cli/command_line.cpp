#include "host/cli/command_line.h"

#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>
#include <utility>
#include <variant>

#include "host/cli/command.h"
#include "host/cli/console.h"
#include "host/cli/exit_code.h"
#include "host/cli/json_text.h"
#include "host/cli/verbs.h"
#include "host/model_store/model_store.h"
#include "host/model_store/pull.h"
#include "host/settings/nearest_name.h"
#include "host/settings/settings.h"
#include "inference/error.h"

namespace glmhost::cli {
namespace {

constexpr std::array<const Verb*, 18> kVerbs = {&kRun,      &kChat,    &kModels,  &kPull,     &kServe,  &kStatus,
                                                &kPs,       &kStop,    &kBench,   &kTokenize, &kRender, &kLogits,
                                                &kValidate, &kProfile, &kGrammar, &kEval,     &kTable,  &kEditor};

std::string overview() {
  std::string text =
      "glm runs language models of the GLM family on this machine. Nothing leaves it.\n\n"
      "Usage: glm VERB [flags]\n\nVerbs:\n";
  for (const Verb* verb : kVerbs) {
    text +=
        "  " + std::string(verb->name) + std::string(11 - verb->name.size(), ' ') + std::string(verb->summary) + "\n";
  }
  text +=
      "\nExamples:\n"
      "  glm run \"Name three uses of a pivot table\"\n"
      "  cat notes.txt | glm run \"Summarise\"\n"
      "  glm pull glm-4-9b-0414\n"
      "\n`glm VERB --help` tells more. `glm --version` prints the version.\n"
      "\nWith --json a verb prints JSON alone on stdout; a failure is told there too, as\n"
      "{\"error\": {\"code\": \"...\", \"message\": \"...\"}}, besides the words on stderr.\n"
      "\nExit codes: 0 done, 1 failed, 2 wrong usage or input, 3 no daemon, 4 no such\n"
      "model, 5 model cannot be loaded, 6 busy, 7 deadline passed, 8 too long for the\n"
      "model's context, 9 a daemon is running already, 10 an answer that was cut before\n"
      "it had the demanded form, 130 cancelled, 141 the reader of the output went\n"
      "away.\n";
  return text;
}

const Verb& find_verb(const std::string& name) {
  const auto found = std::ranges::find(kVerbs, std::string_view(name), &Verb::name);
  if (found != kVerbs.end()) return **found;
  std::vector<std::string_view> names;
  for (const Verb* verb : kVerbs) names.push_back(verb->name);
  const std::string_view near = settings::nearest_name(name, names);
  const std::string kind = name.starts_with('-') ? "flag" : "verb";
  throw Failure(ExitCode::usage, "There is no " + kind + " `" + name + "`." +
                                     (near.empty() ? "" : " Did you mean `glm " + std::string(near) + "`?") +
                                     " `glm --help` lists what there is.");
}

ExitCode run(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2) {
    print(overview());
    flush();
    return ExitCode::usage;
  }
  const std::string& first = arguments[1];
  if (first == "--help" || first == "-h" || first == "help") {
    // `glm help run` is what many type.
    if (first != "help" || arguments.size() < 3) throw HelpRequested{overview()};
    const std::string help = "--help";
    return find_verb(arguments[2]).run({&help, 1});
  }
  if (first == "--version" || first == "-V") throw HelpRequested{std::string("glm ") + GLMHOST_VERSION + "\n"};
  const ExitCode code = find_verb(first).run(std::span(arguments).subspan(2));
  flush();
  return code;
}

// With --json a script reads one object on stdout, whatever happens. It may stand anywhere, since the mistake may be in
// the flags.
bool wants_json(const std::vector<std::string>& arguments) {
  const auto end = std::ranges::find(arguments, "--");
  return std::find(arguments.begin(), end, "--json") != end;
}

struct Problem {
  ExitCode code;
  std::string error_code;
  std::string sentence;
  bool told = false;  // stdout has it

  Problem(ExitCode exit, std::string text) : code(exit), error_code(name(exit)), sentence(std::move(text)) {}
  explicit Problem(const Failure& failure)
      : code(failure.code()), error_code(failure.error_code()), sentence(failure.what()), told(failure.is_told()) {}
};

int tell(const Problem& problem, bool json) {
  print_error(problem.sentence);
  if (json && !problem.told) {
    try {
      print(json_line(error_json(problem.error_code, problem.sentence)));
      flush();
    } catch (const OutputClosed&) {
      return static_cast<int>(ExitCode::output_closed);
    } catch (const Failure&) {  // the disk behind stdout is full, which may be the problem itself
    }
  }
  return static_cast<int>(problem.code);
}

}  // namespace

std::span<const Verb* const> verbs() {
  return kVerbs;
}

int run_command_line(const std::vector<std::string>& arguments) {
  const auto guarded = [&]() -> std::variant<ExitCode, Problem> {
    try {
      return run(arguments);
    } catch (const HelpRequested& help) {
      print(help.text);
      flush();
      return ExitCode::success;
    } catch (const Failure& failure) {
      return Problem(failure);
    } catch (const Error& error) {
      return Problem(exit_code(error.kind()), error.what());
    } catch (const model_store::NoSuchModel& error) {
      return Problem(ExitCode::no_model, error.what());
    } catch (const model_store::CannotRun& error) {
      return Problem(ExitCode::model_load_failed, error.what());
    } catch (const model_store::PullCancelled& error) {
      return Problem(ExitCode::cancelled, error.what());
    } catch (const settings::SettingsError& error) {
      return Problem(ExitCode::usage, error.what());
    } catch (const std::invalid_argument& error) {
      return Problem(ExitCode::usage, error.what());
    } catch (const std::bad_alloc&) {
      return Problem(ExitCode::failure,
                     "There is not enough memory for this. Close other programs or take a smaller model.");
    } catch (const std::exception& error) {
      return Problem(ExitCode::failure, error.what());
    }
  };
  const bool json = wants_json(arguments);
  try {
    const auto outcome = guarded();
    if (const auto* problem = std::get_if<Problem>(&outcome)) return tell(*problem, json);
    return static_cast<int>(std::get<ExitCode>(outcome));
  } catch (const OutputClosed&) {
    return static_cast<int>(ExitCode::output_closed);
  } catch (const Failure& failure) {  // the disk behind stdout is full while help is printed
    return tell(Problem(failure), json);
  }
}

}  // namespace glmhost::cli
