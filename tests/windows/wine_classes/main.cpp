// For Wine alone, once in a prefix: Wine 8 looks for COM classes in HKEY_LOCAL_MACHINE only, where Windows looks in the
// user's own part first. A registry link makes both the same place.
#include <windows.h>

#include <cstdio>

int main() {
  constexpr wchar_t kClasses[] = L"Software\\Classes";
  constexpr wchar_t kTarget[] = L"\\Registry\\Machine\\Software\\Classes";
  RegDeleteTreeW(HKEY_CURRENT_USER, kClasses);
  RegDeleteKeyW(HKEY_CURRENT_USER, kClasses);
  HKEY link = nullptr;
  LSTATUS status = RegCreateKeyExW(HKEY_CURRENT_USER, kClasses, 0, nullptr, REG_OPTION_CREATE_LINK,
                                   KEY_ALL_ACCESS | KEY_CREATE_LINK, nullptr, &link, nullptr);
  if (status == ERROR_SUCCESS) {
    // The target stands there without a terminating zero.
    status = RegSetValueExW(link, L"SymbolicLinkValue", 0, REG_LINK, reinterpret_cast<const BYTE*>(kTarget),
                            sizeof(kTarget) - sizeof(wchar_t));
    RegCloseKey(link);
  }
  std::printf(status == ERROR_SUCCESS ? "linked\n" : "FAILED: error %ld\n", status);
  return status == ERROR_SUCCESS ? 0 : 1;
}
