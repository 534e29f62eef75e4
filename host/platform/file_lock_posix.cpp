// Open-file-description locks: they belong to the descriptor, not the process, so that two FileLocks of one process
// exclude each other too, and unlike flock() they can be asked about (F_OFD_GETLK) without being taken for a moment.
#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <stdexcept>

#include "host/platform/file_lock.h"
#include "host/platform/paths.h"
#include "host/platform/posix_file.h"

namespace glmhost::platform {
namespace {

struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

std::runtime_error lock_error(const std::filesystem::path& file, int error) {
  return std::runtime_error("Cannot lock " + to_utf8(file) + ": " + error_text(error) + ".");
}

}  // namespace

std::optional<FileLock> FileLock::try_acquire(const std::filesystem::path& file) {
  PosixFile opened(open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  if (!opened) throw lock_error(file, errno);
  struct flock lock = whole_file();
  if (fcntl(opened.get(), F_OFD_SETLK, &lock) != 0) {
    if (errno == EAGAIN || errno == EACCES) return std::nullopt;
    throw lock_error(file, errno);
  }
  // The id is for people; the lock holds also when a full disk keeps it from being written.
  const std::string id = std::to_string(getpid()) + "\n";
  if (ftruncate(opened.get(), 0) == 0) {
    [[maybe_unused]] const ssize_t written = pwrite(opened.get(), id.data(), id.size(), 0);
  }
  return FileLock(opened.release(), file);
}

std::optional<std::uint32_t> FileLock::holder(const std::filesystem::path& file) {
  const PosixFile opened(open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!opened) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    throw lock_error(file, errno);
  }
  struct flock lock = whole_file();
  if (fcntl(opened.get(), F_OFD_GETLK, &lock) != 0) throw lock_error(file, errno);
  if (lock.l_type == F_UNLCK) return std::nullopt;
  std::array<char, 16> text{};
  const ssize_t size = pread(opened.get(), text.data(), text.size(), 0);
  std::uint32_t id = 0;
  if (size > 0) std::from_chars(text.data(), text.data() + size, id);
  return id;
}

bool FileLock::in_place() const {
  struct stat held {
  }, found{};
  if (fstat(static_cast<int>(handle_), &held) != 0) return true;
  if (lstat(file_.c_str(), &found) != 0) return errno != ENOENT && errno != ENOTDIR;
  return held.st_dev == found.st_dev && held.st_ino == found.st_ino;
}

void FileLock::release() noexcept {
  if (handle_ >= 0) close(static_cast<int>(std::exchange(handle_, -1)));
}

}  // namespace glmhost::platform
