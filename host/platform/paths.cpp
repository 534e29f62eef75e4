#include "host/platform/paths.h"

#include <optional>
#include <stdexcept>

#include "host/platform/environment.h"
#include "host/platform/system_folders.h"

namespace glmhost::platform {
namespace {

// GLM_HOST_HOME, absolute so that a daemon with another working folder means the same place.
std::optional<std::filesystem::path> common_folder() {
  const auto value = environment_variable("GLM_HOST_HOME");
  if (!value) return std::nullopt;
  return std::filesystem::absolute(path_from_utf8(*value)).lexically_normal();
}

}  // namespace

std::filesystem::path config_folder() {
  if (const auto common = common_folder()) return *common / "config";
  return system_config_folder();
}

std::filesystem::path data_folder() {
  if (const auto common = common_folder()) return *common / "data";
  return system_data_folder();
}

std::filesystem::path state_folder() {
  if (const auto common = common_folder()) return *common / "state";
  return system_state_folder();
}

std::filesystem::path runtime_folder() {
  if (const auto common = common_folder()) return short_enough_for_socket(*common / "run");
  return short_enough_for_socket(system_runtime_folder());
}

std::filesystem::path path_from_utf8(std::string_view text) {
  return std::filesystem::path(std::u8string(text.begin(), text.end()));
}

std::string to_utf8(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return std::string(text.begin(), text.end());
}

}  // namespace glmhost::platform
