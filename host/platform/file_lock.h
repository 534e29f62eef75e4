// An exclusive lock on a file that dies with its process, however that ends: kill -9, a crash, a power cut. The file
// itself stays behind and means nothing; only the lock counts. It also holds the owner's process id for people and for
// error sentences.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

namespace glmhost::platform {

class FileLock {
 public:
  // Nothing when another process (or another FileLock of this one) holds it. Makes the file, mode 0600, where it is
  // missing; its folder must exist. Throws std::runtime_error with a sentence when the file cannot be opened or locked.
  static std::optional<FileLock> try_acquire(const std::filesystem::path& file);

  // The process that holds the lock now; nothing when nobody does or the file is missing. Never disturbs try_acquire of
  // others. 0: held, but the id could not be read.
  static std::optional<std::uint32_t> holder(const std::filesystem::path& file);

  // Whether the file that is locked is still the one that others find by its name: not when somebody removed it or its
  // folder, or put another in its place. True where that cannot be told.
  bool in_place() const;

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();  // releases

 private:
  FileLock(std::intptr_t handle, std::filesystem::path file) : handle_(handle), file_(std::move(file)) {}
  void release() noexcept;

  std::intptr_t handle_ = -1;  // a file descriptor, or a Windows HANDLE
  std::filesystem::path file_;
};

}  // namespace glmhost::platform
