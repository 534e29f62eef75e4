#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "host/model_store/files.h"

namespace glmhost::model_store {
namespace {

void sync(const std::filesystem::path& path, int flags) {
  const int file = open(path.c_str(), flags | O_CLOEXEC);
  if (file < 0) throw std::runtime_error("The file " + path.string() + " cannot be opened: " + std::strerror(errno));
  const int result = fsync(file);
  const int error = errno;
  close(file);
  // Some file systems do not sync folders; the file itself must be safe.
  if (result != 0 && error != EINVAL) {
    throw std::runtime_error("Writing " + path.string() + " to the disk failed: " + std::strerror(error) + ".");
  }
}

}  // namespace

void flush_to_disk(const std::filesystem::path& file) {
  sync(file, O_RDONLY);
}
void flush_folder(const std::filesystem::path& folder) {
  sync(folder, O_RDONLY | O_DIRECTORY);
}

}  // namespace glmhost::model_store
