// The folders of GLM Host on this system, per user. Environment variables win, so that tests and packagers can move
// everything: GLM_HOST_HOME puts all four below one folder.
//
//               Linux                                              Windows
//   config      $XDG_CONFIG_HOME/glm-host (~/.config)              %APPDATA%\glm-host
//   data        $XDG_DATA_HOME/glm-host (~/.local/share)           %LOCALAPPDATA%\glm-host
//   state       $XDG_STATE_HOME/glm-host (~/.local/state)          %LOCALAPPDATA%\glm-host\state
//   runtime     $XDG_RUNTIME_DIR/glm-host, else <state>/run        %LOCALAPPDATA%\glm-host\run
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace glmhost::platform {

std::filesystem::path config_folder();   // config.toml
std::filesystem::path data_folder();     // models/, memo.sqlite
std::filesystem::path state_folder();    // logs
std::filesystem::path runtime_folder();  // lock, socket, host.json; mode 0700

// Paths and the program's own strings are UTF-8 on every system.
std::filesystem::path path_from_utf8(std::string_view text);
std::string to_utf8(const std::filesystem::path& path);

// Makes the folder for this user alone (0700; on Windows an ACL with the user only). Throws std::runtime_error with a
// sentence when it cannot be made or belongs to someone else.
void make_private_folder(const std::filesystem::path& folder);

}  // namespace glmhost::platform
