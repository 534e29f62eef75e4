// What the two systems answer differently about folders; paths.h is the interface.
#pragma once

#include <filesystem>

namespace glmhost::platform {

std::filesystem::path system_config_folder();
std::filesystem::path system_data_folder();
std::filesystem::path system_state_folder();
std::filesystem::path system_runtime_folder();

// The folder itself, or its short stand-in when a socket in it could have no ipc address.
std::filesystem::path short_enough_for_socket(const std::filesystem::path& runtime_folder);

}  // namespace glmhost::platform
