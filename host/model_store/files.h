// Writing large files so that neither a full disk nor a power cut leaves half of one under its final name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "host/model_store/pull_progress.h"

namespace glmhost::model_store {

// Throws std::runtime_error naming both numbers when the disk of `folder` has less room than `bytes` and a reserve of
// 64 MiB (a full disk stops more than a pull).
void require_room(const std::filesystem::path& folder, std::uint64_t bytes);

// A file being written. Errors (disk full, no permission) are std::runtime_error with a sentence.
class OutputFile {
 public:
  OutputFile(const std::filesystem::path& path, bool append);
  void write(std::span<const char> bytes);
  void close();  // all bytes are with the system, or it throws

 private:
  [[noreturn]] void fail() const;
  std::filesystem::path path_;
  std::ofstream stream_;
};

// The file's bytes, piece by piece, reported as `step`. Throws std::runtime_error, PullCancelled.
void read_file(const std::filesystem::path& path, std::string_view step, const PullMonitor& monitor,
               const std::function<void(std::span<const char>)>& on_bytes);

std::string sha256_of(const std::filesystem::path& path, const PullMonitor& monitor);

// Brings the bytes to the disk and then gives the file its name in one step, replacing what was there. Same disk only.
void move_into_place(const std::filesystem::path& from, const std::filesystem::path& to);

// The part that differs between systems (files_posix.cpp, files_windows.cpp).
void flush_to_disk(const std::filesystem::path& file);
void flush_folder(const std::filesystem::path& folder);

}  // namespace glmhost::model_store
