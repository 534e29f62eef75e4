// The folders of GLM Host on this system, per user. Environment variables win, so that tests and packagers can move
// everything: GLM_HOST_HOME puts all four below one folder (config, data, state, run).
//
//               Linux                                              Windows
//   config      $XDG_CONFIG_HOME/glm-host (~/.config)              %APPDATA%\glm-host
//   data        $XDG_DATA_HOME/glm-host (~/.local/share)           %LOCALAPPDATA%\glm-host
//   state       $XDG_STATE_HOME/glm-host (~/.local/state)          %LOCALAPPDATA%\glm-host\state
//   runtime     $XDG_RUNTIME_DIR/glm-host, else <state>/run        %LOCALAPPDATA%\glm-host\run
//
// XDG variables count only when absolute, as their specification says. XDG_RUNTIME_DIR counts only when the folder is
// this user's own (under `sudo -E` it is not); when it is unset, /run/user/<uid> is tried, so that a cron job finds the
// same daemon as a login session.
//
// An ipc address holds 107 bytes. Where the runtime folder is too long for that (a deep home, CJK names), it is
// /tmp/glm-host-<uid>-<hash of the long path> instead: directly below /tmp, whose sticky bit keeps others from
// replacing it once it is ours; if another user made it first, make_private_folder refuses it.
//
// The functions compute; nothing is made. They throw std::runtime_error with a sentence when there is no home folder.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace glmhost::platform {

std::filesystem::path config_folder();   // config.toml
std::filesystem::path data_folder();     // models/, memo.sqlite
std::filesystem::path state_folder();    // logs
std::filesystem::path runtime_folder();  // lock, socket, host.json; mode 0700

// The longest runtime folder, in bytes, whose socket still has a valid ipc address.
inline constexpr std::size_t kMaxRuntimeFolderBytes = 90;

// Paths and the program's own strings are UTF-8 on every system. On Linux the bytes pass as they are, so that also a
// file name that is no UTF-8 can be opened; on Windows text that is none throws std::runtime_error.
std::filesystem::path path_from_utf8(std::string_view text);
std::string to_utf8(const std::filesystem::path& path);

// Makes the folder for this user alone (0700; on Windows an ACL with the user only), and missing parents likewise. One
// that exists and is this user's is closed to others. Throws std::runtime_error with a sentence when it cannot be made,
// is no folder, or belongs to someone else (the same for a symbolic link and what it points to).
void make_private_folder(const std::filesystem::path& folder);

}  // namespace glmhost::platform
