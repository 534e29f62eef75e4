// Environment variables as UTF-8 on every system.
#pragma once

#include <optional>
#include <string>

namespace glmhost::platform {

// Nothing when the variable is unset or empty: an empty value means "unset" in the XDG rules, and ours follow them.
std::optional<std::string> environment_variable(const char* name);

}  // namespace glmhost::platform
