// The lock is on one byte far behind the file's content, because a locked byte cannot be read by others and the process
// id must be.
#include <array>
#include <charconv>
#include <stdexcept>

#include "host/platform/file_lock.h"
#include "host/platform/paths.h"
#include "host/platform/windows_api.h"

namespace glmhost::platform {
namespace {

OVERLAPPED lock_position() {
  OVERLAPPED position{};
  position.OffsetHigh = 0x40000000;
  return position;
}

bool lock_now(HANDLE file) {
  OVERLAPPED position = lock_position();
  return LockFileEx(file, LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &position) != FALSE;
}

std::runtime_error lock_error(const std::filesystem::path& file, DWORD error) {
  return std::runtime_error("Cannot lock " + to_utf8(file) + ": " + error_text(error) + ".");
}

constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

}  // namespace

std::optional<FileLock> FileLock::try_acquire(const std::filesystem::path& file) {
  UserOnlySecurity security;
  WindowsHandle opened(CreateFileW(file.c_str(), GENERIC_READ | GENERIC_WRITE, kShareAll, security.attributes(),
                                   OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr));
  if (!opened) throw lock_error(file, GetLastError());
  // holder() of another process takes the lock for an instant, so one refusal proves nothing.
  for (int attempt = 0; !lock_now(opened.get()); ++attempt) {
    const DWORD error = GetLastError();
    if (error != ERROR_LOCK_VIOLATION && error != ERROR_IO_PENDING) throw lock_error(file, error);
    if (attempt == 5) return std::nullopt;
    Sleep(10);
  }
  const std::string id = std::to_string(GetCurrentProcessId()) + "\n";
  DWORD written = 0;
  if (WriteFile(opened.get(), id.data(), static_cast<DWORD>(id.size()), &written, nullptr)) SetEndOfFile(opened.get());
  return FileLock(reinterpret_cast<std::intptr_t>(opened.release()), file);
}

std::optional<std::uint32_t> FileLock::holder(const std::filesystem::path& file) {
  const WindowsHandle opened(
      CreateFileW(file.c_str(), GENERIC_READ | GENERIC_WRITE, kShareAll, nullptr, OPEN_EXISTING, 0, nullptr));
  if (!opened) {
    const DWORD error = GetLastError();
    if (error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND) return std::nullopt;
    throw lock_error(file, error);
  }
  if (lock_now(opened.get())) {
    OVERLAPPED position = lock_position();
    UnlockFileEx(opened.get(), 0, 1, 0, &position);
    return std::nullopt;
  }
  std::array<char, 16> text{};
  DWORD size = 0;
  std::uint32_t id = 0;
  if (ReadFile(opened.get(), text.data(), static_cast<DWORD>(text.size()), &size, nullptr)) {
    std::from_chars(text.data(), text.data() + size, id);
  }
  return id;
}

bool FileLock::in_place() const {
  std::error_code error;
  return std::filesystem::exists(file_, error) || error;
}

void FileLock::release() noexcept {
  if (handle_ != -1) CloseHandle(reinterpret_cast<HANDLE>(std::exchange(handle_, -1)));
}

}  // namespace glmhost::platform
