// Access lists of files and folders, as Windows reports them.
#pragma once

#include <windows.h>
// aclapi.h needs windows.h before it.
#include <aclapi.h>
#include <doctest/doctest.h>

#include <filesystem>

#include "host/platform/windows_api.h"

namespace glmhost::test {

// Whether its access list lets in anyone whom everybody or every user of the machine belongs to.
inline bool lets_in_everybody(const std::filesystem::path& path) {
  PACL list = nullptr;
  PSECURITY_DESCRIPTOR descriptor = nullptr;
  REQUIRE(GetNamedSecurityInfoW(path.c_str(), SE_FILE_OBJECT, DACL_SECURITY_INFORMATION, nullptr, nullptr, &list,
                                nullptr, &descriptor) == ERROR_SUCCESS);
  const platform::LocalMemory<void> frees(descriptor);
  if (list == nullptr) return true;
  for (DWORD i = 0; i < list->AceCount; ++i) {
    void* entry = nullptr;
    REQUIRE(GetAce(list, i, &entry));
    if (static_cast<const ACE_HEADER*>(entry)->AceType != ACCESS_ALLOWED_ACE_TYPE) continue;
    auto* allowed = static_cast<ACCESS_ALLOWED_ACE*>(entry);
    for (const auto kind : {WinWorldSid, WinAuthenticatedUserSid, WinBuiltinUsersSid, WinBuiltinGuestsSid}) {
      if (allowed->Mask != 0 && IsWellKnownSid(&allowed->SidStart, kind)) return true;
    }
  }
  return false;
}

inline void open_to_everybody(const std::filesystem::path& path) {
  std::wstring name = path.native();
  PACL no_list = nullptr;  // everybody may do everything
  REQUIRE(SetNamedSecurityInfoW(name.data(), SE_FILE_OBJECT, DACL_SECURITY_INFORMATION, nullptr, nullptr, no_list,
                                nullptr) == ERROR_SUCCESS);
}

}  // namespace glmhost::test
