// A file descriptor that closes itself, and the system's words for an error. For the *_posix.cpp files.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace glmhost::platform {

class PosixFile {
 public:
  PosixFile() = default;
  explicit PosixFile(int descriptor) : descriptor_(descriptor) {}
  PosixFile(PosixFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  PosixFile& operator=(PosixFile&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~PosixFile() { reset(); }

  explicit operator bool() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }
  void reset() {
    if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_ = -1;
};

inline std::string error_text(int error) {
  return std::generic_category().message(error);
}

// What to do when a file or folder of this program's own cannot be made or written; a sentence with a blank before it.
inline std::string remedy(int error) {
  if (error == ENOSPC || error == EDQUOT) {
    return " Make room on its disk, or set GLM_HOST_HOME to a folder on another one.";
  }
  return " Settings, models and state need folders that can be written to; GLM_HOST_HOME names one for all of them.";
}

}  // namespace glmhost::platform
