#include "host/platform/environment.h"
#include "host/platform/windows_api.h"

namespace glmhost::platform {

std::optional<std::string> environment_variable(const char* name) {
  const std::wstring wide_name = to_wide(name);
  std::wstring value(GetEnvironmentVariableW(wide_name.c_str(), nullptr, 0), L'\0');
  if (value.empty()) return std::nullopt;
  value.resize(GetEnvironmentVariableW(wide_name.c_str(), value.data(), static_cast<DWORD>(value.size())));
  if (value.empty()) return std::nullopt;
  return to_utf8(value);
}

void set_environment_variable(const char* name, const std::string& value) {
  SetEnvironmentVariableW(to_wide(name).c_str(), to_wide(value).c_str());
}

}  // namespace glmhost::platform
