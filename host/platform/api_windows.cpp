#include <aclapi.h>
#include <sddl.h>

#include <stdexcept>
#include <vector>

#include "host/platform/windows_api.h"

namespace glmhost::platform {
namespace {

std::vector<char> token_information(TOKEN_INFORMATION_CLASS kind) {
  HANDLE token = nullptr;
  if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token)) {
    throw std::runtime_error("Windows does not say who runs this program: " + error_text(GetLastError()) + ".");
  }
  const WindowsHandle closes(token);
  DWORD size = 0;
  GetTokenInformation(token, kind, nullptr, 0, &size);
  std::vector<char> information(size);
  if (!GetTokenInformation(token, kind, information.data(), size, &size)) {
    throw std::runtime_error("Windows does not say who runs this program: " + error_text(GetLastError()) + ".");
  }
  return information;
}

}  // namespace

std::wstring to_wide(std::string_view utf8) {
  const int size = static_cast<int>(utf8.size());
  std::wstring wide(static_cast<std::size_t>(MultiByteToWideChar(CP_UTF8, 0, utf8.data(), size, nullptr, 0)), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, utf8.data(), size, wide.data(), static_cast<int>(wide.size()));
  return wide;
}

std::string to_utf8(std::wstring_view wide) {
  const int size = static_cast<int>(wide.size());
  std::string utf8(
      static_cast<std::size_t>(WideCharToMultiByte(CP_UTF8, 0, wide.data(), size, nullptr, 0, nullptr, nullptr)), '\0');
  WideCharToMultiByte(CP_UTF8, 0, wide.data(), size, utf8.data(), static_cast<int>(utf8.size()), nullptr, nullptr);
  return utf8;
}

std::string error_text(DWORD error) {
  wchar_t* text = nullptr;
  const DWORD size =
      FormatMessageW(FORMAT_MESSAGE_ALLOCATE_BUFFER | FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS,
                     nullptr, error, 0, reinterpret_cast<wchar_t*>(&text), 0, nullptr);
  const LocalMemory<wchar_t> frees(text);
  std::wstring_view words(text == nullptr ? L"" : text, size);
  while (!words.empty() && (words.back() <= L' ' || words.back() == L'.')) words.remove_suffix(1);
  return words.empty() ? "error " + std::to_string(error) : to_utf8(words);
}

UserOnlySecurity::UserOnlySecurity() {
  const std::vector<char> user = token_information(TokenUser);
  wchar_t* sid = nullptr;
  if (!ConvertSidToStringSidW(reinterpret_cast<const TOKEN_USER*>(user.data())->User.Sid, &sid)) {
    throw std::runtime_error("Windows does not name this user: " + error_text(GetLastError()) + ".");
  }
  const LocalMemory<wchar_t> frees(sid);
  // P: nothing is inherited from the folder above. OICI: files and folders inside inherit. FA: full access.
  const std::wstring text = L"D:P(A;OICI;FA;;;" + std::wstring(sid) + L")";
  void* descriptor = nullptr;
  if (!ConvertStringSecurityDescriptorToSecurityDescriptorW(text.c_str(), SDDL_REVISION_1, &descriptor, nullptr)) {
    throw std::runtime_error("Windows refuses an access list for this user: " + error_text(GetLastError()) + ".");
  }
  descriptor_.reset(descriptor);
  BOOL present = FALSE;
  BOOL defaulted = FALSE;
  GetSecurityDescriptorDacl(descriptor, &present, &acl_, &defaulted);
  attributes_ = {sizeof(attributes_), descriptor, FALSE};
}

bool is_owned_by_this_user(const std::wstring& path) {
  PSID owner = nullptr;
  PSECURITY_DESCRIPTOR descriptor = nullptr;
  if (GetNamedSecurityInfoW(path.c_str(), SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION, &owner, nullptr, nullptr, nullptr,
                            &descriptor) != ERROR_SUCCESS) {
    return false;
  }
  const LocalMemory<void> frees(descriptor);
  const std::vector<char> user = token_information(TokenUser);
  if (EqualSid(owner, reinterpret_cast<const TOKEN_USER*>(user.data())->User.Sid)) return true;
  const std::vector<char> default_owner = token_information(TokenOwner);
  return EqualSid(owner, reinterpret_cast<const TOKEN_OWNER*>(default_owner.data())->Owner) != FALSE;
}

bool is_open_to_others(const std::wstring& path) {
  PACL list = nullptr;
  PSECURITY_DESCRIPTOR descriptor = nullptr;
  if (GetNamedSecurityInfoW(path.c_str(), SE_FILE_OBJECT, DACL_SECURITY_INFORMATION, nullptr, nullptr, &list, nullptr,
                            &descriptor) != ERROR_SUCCESS) {
    return true;
  }
  const LocalMemory<void> frees(descriptor);
  if (list == nullptr) return true;  // no list: everybody may do everything
  const std::vector<char> user = token_information(TokenUser);
  for (DWORD i = 0; i < list->AceCount; ++i) {
    void* entry = nullptr;
    if (!GetAce(list, i, &entry)) return true;
    const BYTE type = static_cast<const ACE_HEADER*>(entry)->AceType;
    if (type == ACCESS_DENIED_ACE_TYPE) continue;
    if (type != ACCESS_ALLOWED_ACE_TYPE) return true;
    PSID who = &static_cast<ACCESS_ALLOWED_ACE*>(entry)->SidStart;
    if (!EqualSid(who, reinterpret_cast<const TOKEN_USER*>(user.data())->User.Sid) &&
        !IsWellKnownSid(who, WinLocalSystemSid) && !IsWellKnownSid(who, WinBuiltinAdministratorsSid)) {
      return true;
    }
  }
  return false;
}

}  // namespace glmhost::platform
