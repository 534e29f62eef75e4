#include <windows.h>

#include <string_view>

#include "excel-addin/xll/module.h"

namespace glmhost::xll {
namespace {

HMODULE own_module(DWORD flags) {
  HMODULE module = nullptr;
  GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | flags, reinterpret_cast<LPCWSTR>(&find_callback),
                     &module);
  return module;
}

}  // namespace

Callback find_callback() {
  return reinterpret_cast<Callback>(reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(nullptr), kCallbackName)));
}

std::u16string module_path() {
  wchar_t path[32768];
  const DWORD size = GetModuleFileNameW(own_module(GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT), path, 32768);
  return {path, path + size};
}

void pin_module() {
  own_module(GET_MODULE_HANDLE_EX_FLAG_PIN);
}

bool is_in_function_wizard() {
  // Excel's own dialogues have a class of this name with a version's digit behind it. Find and Replace is one too, and
  // may stay open while cells are calculated.
  const auto look = [](HWND window, LPARAM found) -> BOOL {
    constexpr std::wstring_view kDialogue = L"bosa_sdm_XL";
    wchar_t name[32];
    const int size = GetClassNameW(window, name, 32);
    if (std::wstring_view(name, static_cast<std::size_t>(size)).substr(0, kDialogue.size()) != kDialogue ||
        !IsWindowVisible(window)) {
      return TRUE;
    }
    wchar_t title[64];
    const int length = GetWindowTextW(window, title, 64);
    if (std::wstring_view(title, static_cast<std::size_t>(length)).find(L"Replace") != std::wstring_view::npos)
      return TRUE;
    *reinterpret_cast<bool*>(found) = true;
    return FALSE;
  };
  bool found = false;
  EnumThreadWindows(GetCurrentThreadId(), look, reinterpret_cast<LPARAM>(&found));
  return found;
}

}  // namespace glmhost::xll
