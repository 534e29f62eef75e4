#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "inference/model_files/byte_source.h"
#include "inference/model_files/error_text.h"

static_assert(sizeof(off_t) == 8, "models are larger than 2 GB");

namespace glmhost::model_files {
namespace {

// One call is kept below what Linux transfers at once (2 GB).
constexpr std::size_t kLargestRead = std::size_t{1} << 30;

std::string reason(int error) {
  return std::generic_category().message(error);
}

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  int value() const { return value_; }

 private:
  int value_;
};

class FileSource : public ByteSource {
 public:
  FileSource(Descriptor file, std::uint64_t size, std::string name)
      : file_(std::move(file)), size_(size), name_(std::move(name)) {}

  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return size_; }

  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    const std::uint64_t end = offset + out.size();
    while (!out.empty()) {
      const ssize_t got =
          ::pread(file_.value(), out.data(), std::min(out.size(), kLargestRead), static_cast<off_t>(offset));
      if (got < 0) {
        if (errno == EINTR) continue;
        throw_io(name_, "read", reason(errno));
      }
      if (got == 0) throw_shrunk(name_, end);
      out = out.subspan(static_cast<std::size_t>(got));
      offset += static_cast<std::uint64_t>(got);
    }
  }

 private:
  Descriptor file_;
  std::uint64_t size_;
  std::string name_;
};

}  // namespace

std::unique_ptr<ByteSource> open_file(const std::filesystem::path& path) {
  std::string name = quoted_path(path);
  // A path with a zero byte inside would be opened up to there: another file than the one named.
  if (path.empty() || path.native().find('\0') != std::string::npos) throw_missing(name);

  // O_NONBLOCK: opening a pipe that nobody writes to must not wait for ever.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.value() < 0) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG) throw_missing(name);
    if (error == EACCES || error == EPERM) throw_no_permission(name);
    if (error == ENXIO || error == ENODEV) throw_not_regular(name);
    throw_io(name, "opened", reason(error));
  }
  struct stat status {};
  if (::fstat(file.value(), &status) != 0) throw_io(name, "opened", reason(errno));
  if (S_ISDIR(status.st_mode)) throw_directory(name);
  if (!S_ISREG(status.st_mode)) throw_not_regular(name);
  return std::make_unique<FileSource>(std::move(file), static_cast<std::uint64_t>(status.st_size), std::move(name));
}

}  // namespace glmhost::model_files
