// The verbs of `glm`, one file each.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "host/cli/exit_code.h"

namespace glmhost::cli {

// Arguments are those behind the verb. Failures are exceptions (see command_line.cpp).
using VerbArguments = std::span<const std::string>;

struct Verb {
  std::string_view name;
  std::string_view summary;
  ExitCode (*run)(VerbArguments arguments);
};

extern const Verb kServe, kRun, kChat, kModels, kPull, kPs, kStatus, kStop, kBench, kTokenize, kRender, kLogits,
    kValidate, kProfile, kGrammar, kEval, kTable, kEditor;

std::span<const Verb* const> verbs();  // in the order of `glm --help`

}  // namespace glmhost::cli
