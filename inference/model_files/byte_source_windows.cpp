#include <windows.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "inference/model_files/byte_source.h"
#include "inference/model_files/error_text.h"

namespace glmhost::model_files {
namespace {

constexpr std::size_t kLargestRead = std::size_t{1} << 30;  // ReadFile counts in 32 bits

std::string reason(DWORD error) {
  std::string text = std::system_category().message(static_cast<int>(error));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
  return text;
}

class Handle {
 public:
  explicit Handle(HANDLE value) : value_(value) {}
  Handle(Handle&& other) noexcept : value_(std::exchange(other.value_, INVALID_HANDLE_VALUE)) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (value_ != INVALID_HANDLE_VALUE) ::CloseHandle(value_);
  }
  HANDLE value() const { return value_; }

 private:
  HANDLE value_;
};

class FileSource : public ByteSource {
 public:
  FileSource(Handle file, std::uint64_t size, std::string name)
      : file_(std::move(file)), size_(size), name_(std::move(name)) {}

  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return size_; }

  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    const std::uint64_t end = offset + out.size();
    while (!out.empty()) {
      // With an OVERLAPPED the offset travels with the call, so threads do not share a file pointer.
      OVERLAPPED position{};
      position.Offset = static_cast<DWORD>(offset);
      position.OffsetHigh = static_cast<DWORD>(offset >> 32);
      DWORD got = 0;
      const auto wanted = static_cast<DWORD>(std::min(out.size(), kLargestRead));
      if (!::ReadFile(file_.value(), out.data(), wanted, &got, &position)) {
        const DWORD error = ::GetLastError();
        if (error == ERROR_HANDLE_EOF) throw_shrunk(name_, end);
        throw_io(name_, "read", reason(error));
      }
      if (got == 0) throw_shrunk(name_, end);
      out = out.subspan(got);
      offset += got;
    }
  }

 private:
  Handle file_;
  std::uint64_t size_;
  std::string name_;
};

}  // namespace

std::unique_ptr<ByteSource> open_file(const std::filesystem::path& path) {
  std::string name = quoted_path(path);
  if (path.empty() || path.native().find(L'\0') != std::wstring::npos) throw_missing(name);

  // Asked first because CreateFile answers "access denied" for a directory.
  const DWORD attributes = ::GetFileAttributesW(path.c_str());
  if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY)) throw_directory(name);

  Handle file(::CreateFileW(path.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                            OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr));
  if (file.value() == INVALID_HANDLE_VALUE) {
    const DWORD error = ::GetLastError();
    if (error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND || error == ERROR_INVALID_NAME ||
        error == ERROR_BAD_NETPATH || error == ERROR_FILENAME_EXCED_RANGE) {
      throw_missing(name);
    }
    if (error == ERROR_ACCESS_DENIED) throw_no_permission(name);
    throw_io(name, "opened", reason(error));
  }
  if (::GetFileType(file.value()) != FILE_TYPE_DISK) throw_not_regular(name);
  LARGE_INTEGER size{};
  if (!::GetFileSizeEx(file.value(), &size)) throw_io(name, "opened", reason(::GetLastError()));
  return std::make_unique<FileSource>(std::move(file), static_cast<std::uint64_t>(size.QuadPart), std::move(name));
}

}  // namespace glmhost::model_files
