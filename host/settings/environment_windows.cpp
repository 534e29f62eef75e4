#include <windows.h>

#include <cwchar>

#include "host/platform/paths.h"
#include "host/settings/settings.h"

namespace glmhost::settings {

// The wide block: the narrow one has lost every character outside the code page.
Environment process_environment() {
  Environment variables;
  wchar_t* block = GetEnvironmentStringsW();
  if (block == nullptr) return variables;
  for (const wchar_t* entry = block; *entry != 0; entry += std::wcslen(entry) + 1) {
    const wchar_t* equals = std::wcschr(entry + 1, L'=');  // names such as "=C:" begin with one
    if (equals == nullptr) continue;
    variables.emplace_back(platform::to_utf8(std::filesystem::path(entry, equals)),
                           platform::to_utf8(std::filesystem::path(equals + 1)));
  }
  FreeEnvironmentStringsW(block);
  return variables;
}

}  // namespace glmhost::settings
