#include <atomic>
#include <stdexcept>

#include "host/platform/paths.h"
#include "host/platform/private_file.h"
#include "host/platform/windows_api.h"

namespace glmhost::platform {

void write_private_file(const std::filesystem::path& file, std::string_view bytes) {
  static std::atomic<unsigned> counter{0};
  std::filesystem::path fresh = file;
  fresh += std::string(".")
               .append(std::to_string(GetCurrentProcessId()))
               .append("-")
               .append(std::to_string(counter++))
               .append(".new");
  const auto fail = [&](DWORD error) {
    DeleteFileW(fresh.c_str());
    throw std::runtime_error("Cannot write " + to_utf8(file) + ": " + error_text(error) + ".");
  };
  DeleteFileW(fresh.c_str());  // left by a killed process that had our process id
  UserOnlySecurity security;
  WindowsHandle opened(
      CreateFileW(fresh.c_str(), GENERIC_WRITE, 0, security.attributes(), CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr));
  if (!opened) fail(GetLastError());
  while (!bytes.empty()) {
    DWORD written = 0;
    const DWORD size = static_cast<DWORD>(std::min<std::size_t>(bytes.size(), 1u << 30));
    if (!WriteFile(opened.get(), bytes.data(), size, &written, nullptr)) fail(GetLastError());
    bytes.remove_prefix(written);
  }
  if (!FlushFileBuffers(opened.get())) fail(GetLastError());
  opened.reset();
  // A reader that has the old file open makes the exchange fail for a moment, and many readers often.
  constexpr int kAttempts = 500;
  for (int attempt = 1;; ++attempt) {
    if (MoveFileExW(fresh.c_str(), file.c_str(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) return;
    const DWORD error = GetLastError();
    if ((error != ERROR_ACCESS_DENIED && error != ERROR_SHARING_VIOLATION) || attempt == kAttempts) fail(error);
    Sleep(1 + static_cast<DWORD>(attempt % 16));
  }
}

std::optional<std::string> read_private_file(const std::filesystem::path& file, std::size_t max_bytes) {
  const std::string name = to_utf8(file);
  const WindowsHandle opened(CreateFileW(file.c_str(), GENERIC_READ,
                                         FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING,
                                         FILE_FLAG_OPEN_REPARSE_POINT, nullptr));
  if (!opened) {
    const DWORD error = GetLastError();
    if (error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND) return std::nullopt;
    throw std::runtime_error("Cannot read " + name + ": " + error_text(error) + ".");
  }
  BY_HANDLE_FILE_INFORMATION information{};
  if (GetFileType(opened.get()) != FILE_TYPE_DISK || !GetFileInformationByHandle(opened.get(), &information) ||
      (information.dwFileAttributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT)) != 0) {
    throw std::runtime_error(name + " is not a regular file. Remove it.");
  }
  if (!is_owned_by_this_user(file.native())) {
    throw std::runtime_error(name + " belongs to another user of this machine, so it is not trusted. Remove it.");
  }
  if (is_open_to_others(file.native())) {
    throw std::runtime_error(name + " is open to other users of this machine, so it is not trusted. Remove it.");
  }
  std::string bytes(max_bytes + 1, '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    DWORD got = 0;
    if (!ReadFile(opened.get(), bytes.data() + filled, static_cast<DWORD>(bytes.size() - filled), &got, nullptr)) {
      throw std::runtime_error("Cannot read " + name + ": " + error_text(GetLastError()) + ".");
    }
    if (got == 0) break;
    filled += got;
  }
  if (filled > max_bytes) {
    throw std::runtime_error(name + " is larger than " + std::to_string(max_bytes) + " bytes, so it is damaged.");
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace glmhost::platform
