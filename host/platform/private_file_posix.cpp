#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <stdexcept>

#include "host/platform/paths.h"
#include "host/platform/posix_file.h"
#include "host/platform/private_file.h"

namespace glmhost::platform {
namespace {

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// The rename itself is on the disk only when the folder is.
void sync_folder(const std::filesystem::path& folder) {
  const PosixFile opened(open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened) fsync(opened.get());
}

}  // namespace

void write_private_file(const std::filesystem::path& file, std::string_view bytes) {
  static std::atomic<unsigned> counter{0};
  std::filesystem::path fresh = file;
  fresh +=
      std::string(".").append(std::to_string(getpid())).append("-").append(std::to_string(counter++)).append(".new");
  unlink(fresh.c_str());  // left by a killed process that had our process id

  const auto fail = [&](int error) {
    unlink(fresh.c_str());
    throw std::runtime_error("Cannot write " + to_utf8(file) + ": " + error_text(error) + "." + remedy(error));
  };
  PosixFile opened(open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!opened || fchmod(opened.get(), 0600) != 0 || !write_all(opened.get(), bytes) || fsync(opened.get()) != 0) {
    fail(errno);
  }
  opened.reset();
  if (std::rename(fresh.c_str(), file.c_str()) != 0) fail(errno);
  sync_folder(file.parent_path());
}

std::optional<std::string> read_private_file(const std::filesystem::path& file, std::size_t max_bytes) {
  // O_NONBLOCK: a pipe in place of the file must not make us wait.
  const PosixFile opened(open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const std::string name = to_utf8(file);
  if (!opened) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    if (errno == ELOOP) throw std::runtime_error(name + " is a symbolic link, which is not trusted here. Remove it.");
    throw std::runtime_error("Cannot read " + name + ": " + error_text(errno) + ".");
  }
  struct stat status {};
  if (fstat(opened.get(), &status) != 0) {
    throw std::runtime_error("Cannot read " + name + ": " + error_text(errno) + ".");
  }
  if (!S_ISREG(status.st_mode)) throw std::runtime_error(name + " is not a regular file. Remove it.");
  if (status.st_uid != geteuid()) {
    throw std::runtime_error(name + " belongs to another user of this machine, so it is not trusted. Remove it.");
  }
  if ((status.st_mode & 0077) != 0) {
    throw std::runtime_error(name + " is open to other users of this machine, so it is not trusted. Remove it.");
  }

  std::string bytes(max_bytes + 1, '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = read(opened.get(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw std::runtime_error("Cannot read " + name + ": " + error_text(errno) + ".");
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  if (filled > max_bytes) {
    throw std::runtime_error(name + " is larger than " + std::to_string(max_bytes) + " bytes, so it is damaged.");
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace glmhost::platform
