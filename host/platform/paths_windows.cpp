#include <aclapi.h>

#include <stdexcept>

#include "host/platform/environment.h"
#include "host/platform/paths.h"
#include "host/platform/system_folders.h"
#include "host/platform/windows_api.h"

namespace glmhost::platform {
namespace {

std::filesystem::path application_data(const char* variable, const char* below_profile) {
  if (const auto value = environment_variable(variable)) return path_from_utf8(*value) / "glm-host";
  if (const auto profile = environment_variable("USERPROFILE")) {
    return path_from_utf8(*profile) / path_from_utf8(below_profile) / "glm-host";
  }
  throw std::runtime_error(std::string("There is no folder for this user's files: neither ") + variable +
                           " nor USERPROFILE is set. Set GLM_HOST_HOME.");
}

}  // namespace

std::filesystem::path system_config_folder() {
  return application_data("APPDATA", "AppData\\Roaming");
}
std::filesystem::path system_data_folder() {
  return application_data("LOCALAPPDATA", "AppData\\Local");
}
std::filesystem::path system_state_folder() {
  return system_data_folder() / "state";
}
std::filesystem::path system_runtime_folder() {
  return system_data_folder() / "run";
}

// No limit: the daemon listens on tcp here.
std::filesystem::path short_enough_for_socket(const std::filesystem::path& runtime_folder) {
  return runtime_folder;
}

void make_private_folder(const std::filesystem::path& folder) {
  std::filesystem::path path = std::filesystem::absolute(folder).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  UserOnlySecurity security;
  std::filesystem::path part = path.root_path();
  for (const auto& name : path.relative_path()) {
    part /= name;
    if (CreateDirectoryW(part.c_str(), security.attributes())) continue;
    const DWORD error = GetLastError();
    if (std::error_code ignored; std::filesystem::is_directory(part, ignored)) continue;
    throw std::runtime_error(error == ERROR_ALREADY_EXISTS
                                 ? to_utf8(part) + " is in the way: it is a file, and a folder of this name is needed."
                                 : "Cannot make the folder " + to_utf8(part) + ": " + error_text(error) + ".");
  }
  if (!is_owned_by_this_user(path.native())) {
    throw std::runtime_error("The folder " + to_utf8(path) +
                             " belongs to another user of this machine, so nothing private can be kept in it. Remove "
                             "it, or set GLM_HOST_HOME to a folder of your own.");
  }
  // The first call also reaches what is inside, but under Wine keeps what the folder inherited; the second sets exactly
  // this list.
  std::wstring name = path.native();
  constexpr SECURITY_INFORMATION kList = DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION;
  DWORD error = SetNamedSecurityInfoW(name.data(), SE_FILE_OBJECT, kList, nullptr, nullptr, security.acl(), nullptr);
  if (error == ERROR_SUCCESS && !SetFileSecurityW(name.c_str(), kList, security.attributes()->lpSecurityDescriptor)) {
    error = GetLastError();
  }
  if (error != ERROR_SUCCESS) {
    throw std::runtime_error("Cannot close the folder " + to_utf8(path) +
                             " to other users of this machine: " + error_text(error) + ".");
  }
}

}  // namespace glmhost::platform
