#include <string_view>

#include "host/settings/settings.h"

extern char** environ;

namespace glmhost::settings {

Environment process_environment() {
  Environment variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    const auto equals = variable.find('=');
    if (equals != std::string_view::npos)
      variables.emplace_back(variable.substr(0, equals), variable.substr(equals + 1));
  }
  return variables;
}

}  // namespace glmhost::settings
