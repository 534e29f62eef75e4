// Environment variables as UTF-8 on every system.
#pragma once

#include <optional>
#include <string>

namespace glmhost::platform {

// Nothing when the variable is unset or empty: an empty value means "unset" in the XDG rules, and ours follow them.
std::optional<std::string> environment_variable(const char* name);

// For programs that are started from now on. Not while other threads read the environment.
void set_environment_variable(const char* name, const std::string& value);

}  // namespace glmhost::platform
