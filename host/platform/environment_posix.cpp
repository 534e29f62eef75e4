#include <cstdlib>

#include "host/platform/environment.h"

namespace glmhost::platform {

std::optional<std::string> environment_variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

void set_environment_variable(const char* name, const std::string& value) {
  setenv(name, value.c_str(), 1);
}

}  // namespace glmhost::platform
