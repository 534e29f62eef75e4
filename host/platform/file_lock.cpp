#include "host/platform/file_lock.h"

#include <utility>

namespace glmhost::platform {

FileLock::FileLock(FileLock&& other) noexcept
    : handle_(std::exchange(other.handle_, -1)), file_(std::move(other.file_)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  if (this != &other) {
    release();
    handle_ = std::exchange(other.handle_, -1);
    file_ = std::move(other.file_);
  }
  return *this;
}

FileLock::~FileLock() {
  release();
}

}  // namespace glmhost::platform
