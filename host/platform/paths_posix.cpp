#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "host/platform/environment.h"
#include "host/platform/paths.h"
#include "host/platform/posix_file.h"
#include "host/platform/system_folders.h"

namespace glmhost::platform {
namespace {

std::filesystem::path home_folder() {
  if (const auto home = environment_variable("HOME"); home && home->front() == '/') return *home;
  std::vector<char> buffer(16384);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr &&
      found->pw_dir != nullptr && found->pw_dir[0] == '/') {
    return found->pw_dir;
  }
  throw std::runtime_error(
      "There is no home folder: HOME is not set and the user database names none. Set HOME or GLM_HOST_HOME.");
}

std::filesystem::path xdg_folder(const char* variable, const char* below_home) {
  if (const auto value = environment_variable(variable); value && value->front() == '/') {
    return std::filesystem::path(*value) / "glm-host";
  }
  return home_folder() / below_home / "glm-host";
}

bool is_own_folder(const std::filesystem::path& folder) {
  struct stat status {};
  return stat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

// FNV-1a, 64 bits: only tells long paths apart, for a name that make_private_folder checks anyway.
std::string path_hash(const std::string& path) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char byte : path) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

}  // namespace

std::filesystem::path system_config_folder() {
  return xdg_folder("XDG_CONFIG_HOME", ".config");
}
std::filesystem::path system_data_folder() {
  return xdg_folder("XDG_DATA_HOME", ".local/share");
}
std::filesystem::path system_state_folder() {
  return xdg_folder("XDG_STATE_HOME", ".local/state");
}

std::filesystem::path system_runtime_folder() {
  const auto value = environment_variable("XDG_RUNTIME_DIR");
  const std::filesystem::path folder = value ? *value : "/run/user/" + std::to_string(geteuid());
  if (folder.is_absolute() && is_own_folder(folder)) return folder / "glm-host";
  return system_state_folder() / "run";
}

std::filesystem::path short_enough_for_socket(const std::filesystem::path& runtime_folder) {
  const std::string& path = runtime_folder.native();
  if (path.size() <= kMaxRuntimeFolderBytes) return runtime_folder;
  return "/tmp/glm-host-" + std::to_string(geteuid()) + "-" + path_hash(path);
}

void make_private_folder(const std::filesystem::path& folder) {
  std::filesystem::path path = std::filesystem::absolute(folder).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();  // "/a/b/"

  std::filesystem::path part = path.root_path();
  for (const auto& name : path.relative_path()) {
    part /= name;
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      const int error = errno;
      // Above a mount point or in a home whose parents are closed, mkdir fails for folders that are there.
      if (struct stat status{}; stat(part.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) continue;
      throw std::runtime_error(
          "Cannot make the folder " + to_utf8(part) + ": " + error_text(error) +
          ". Programs of GLM Host need folders that they can write to: GLM_HOST_HOME names one for "
          "all of them.");
    }
  }

  struct stat link {};
  if (lstat(path.c_str(), &link) != 0) {
    throw std::runtime_error("Cannot look at the folder " + to_utf8(path) + ": " + error_text(errno) + ".");
  }
  if (link.st_uid != geteuid()) {
    throw std::runtime_error("The folder " + to_utf8(path) +
                             " belongs to another user of this machine, so nothing private can be kept in it. Remove "
                             "it, or set GLM_HOST_HOME to a folder of your own.");
  }
  const PosixFile opened(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) {
    throw std::runtime_error(errno == ENOTDIR
                                 ? to_utf8(path) + " is in the way: it is a file, and a folder of this name is needed."
                                 : "Cannot open the folder " + to_utf8(path) + ": " + error_text(errno) + ".");
  }
  struct stat status {};
  if (fstat(opened.get(), &status) != 0 || status.st_uid != geteuid()) {
    throw std::runtime_error("The folder that " + to_utf8(path) +
                             " points to belongs to another user of this machine, so nothing private can be kept in "
                             "it. Remove the link, or set GLM_HOST_HOME to a folder of your own.");
  }
  if ((status.st_mode & 0777) != 0700 && fchmod(opened.get(), 0700) != 0) {
    throw std::runtime_error("Cannot close the folder " + to_utf8(path) +
                             " to other users of this machine: " + error_text(errno) + ".");
  }
}

}  // namespace glmhost::platform
