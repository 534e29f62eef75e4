// Small files that only this user may read: keys, host.json.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace glmhost::platform {

// All or nothing: the bytes go to a new file beside it (0600; on Windows an ACL with the user only), to the disk, and
// then take the old file's place in one step. Throws std::runtime_error with a sentence; the old file is then
// untouched.
void write_private_file(const std::filesystem::path& file, std::string_view bytes);

// Nothing when there is no such file. Throws std::runtime_error with a sentence when it cannot be read, is no regular
// file, is larger than `max_bytes`, belongs to another user, or can be changed or read by one.
std::optional<std::string> read_private_file(const std::filesystem::path& file, std::size_t max_bytes);

}  // namespace glmhost::platform
