// A HANDLE that closes itself, wide strings, error texts and "this user alone" as an ACL. For the *_windows.cpp files.
#pragma once

#include <windows.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace glmhost::platform {

class WindowsHandle {
 public:
  WindowsHandle() = default;
  explicit WindowsHandle(HANDLE handle) : handle_(handle) {}
  WindowsHandle(WindowsHandle&& other) noexcept : handle_(std::exchange(other.handle_, INVALID_HANDLE_VALUE)) {}
  WindowsHandle& operator=(WindowsHandle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~WindowsHandle() { reset(); }

  // Some calls fail with NULL, others with INVALID_HANDLE_VALUE.
  explicit operator bool() const { return handle_ != nullptr && handle_ != INVALID_HANDLE_VALUE; }
  HANDLE get() const { return handle_; }
  HANDLE release() { return std::exchange(handle_, INVALID_HANDLE_VALUE); }
  void reset() {
    if (*this) CloseHandle(std::exchange(handle_, INVALID_HANDLE_VALUE));
  }

 private:
  HANDLE handle_ = INVALID_HANDLE_VALUE;
};

struct LocalFreeDeleter {
  void operator()(void* memory) const { LocalFree(memory); }
};
template <class T>
using LocalMemory = std::unique_ptr<T, LocalFreeDeleter>;

std::wstring to_wide(std::string_view utf8);
std::string to_utf8(std::wstring_view wide);
std::string error_text(DWORD error);  // without a full stop

// A security descriptor that gives everything to this user and nothing to others, inherited by what is made inside.
// Throws std::runtime_error.
class UserOnlySecurity {
 public:
  UserOnlySecurity();
  SECURITY_ATTRIBUTES* attributes() { return &attributes_; }
  PACL acl() const { return acl_; }

 private:
  LocalMemory<void> descriptor_;
  PACL acl_ = nullptr;
  SECURITY_ATTRIBUTES attributes_{};
};

// Whether the file or folder was made by this user, or by the administrators' group that an elevated user acts as.
bool is_owned_by_this_user(const std::wstring& path);

// Whether anybody else may do something with it. The system and its administrators do not count: they may do anything
// anyway. True when Windows does not tell.
bool is_open_to_others(const std::wstring& path);

}  // namespace glmhost::platform
