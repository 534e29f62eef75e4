// `glm VERB ...`: picks the verb, runs it, turns what it throws into a sentence on stderr and an exit code.
#pragma once

#include <string>
#include <vector>

namespace glmhost::cli {

// arguments[0] is the program's name.
int run_command_line(const std::vector<std::string>& arguments);

}  // namespace glmhost::cli
