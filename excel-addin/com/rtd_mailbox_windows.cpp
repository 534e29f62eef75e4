#include <utility>

#include "excel-addin/com/rtd_mailbox.h"

namespace glmhost::com {
namespace {

constexpr wchar_t kWindowClass[] = L"GlmHostRtdMailbox";
constexpr UINT kChanged = WM_APP + 1;

// The module that this code lies in, which is not the program.
HINSTANCE own_module() {
  HMODULE module = nullptr;
  GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                     reinterpret_cast<LPCWSTR>(&own_module), &module);
  return module;
}

}  // namespace

RtdMailbox::RtdMailbox(IRTDUpdateEvent* callback) : callback_(callback) {
  if (callback_ != nullptr) callback_->AddRef();
  WNDCLASSW description{};
  description.lpfnWndProc = &RtdMailbox::on_message;
  description.hInstance = own_module();
  description.lpszClassName = kWindowClass;
  RegisterClassW(&description);  // fails when it is known already, which is fine
  window_ = CreateWindowExW(0, kWindowClass, L"", 0, 0, 0, 0, 0, HWND_MESSAGE, nullptr, description.hInstance, nullptr);
  if (window_ != nullptr) SetWindowLongPtrW(window_, GWLP_USERDATA, reinterpret_cast<LONG_PTR>(this));
}

RtdMailbox::~RtdMailbox() {
  close();
}

void RtdMailbox::close() {
  const HWND window = [&] {
    const std::lock_guard lock(mutex_);
    return std::exchange(window_, nullptr);
  }();
  if (window != nullptr) {
    SetWindowLongPtrW(window, GWLP_USERDATA, 0);
    DestroyWindow(window);
  }
  if (callback_ != nullptr) std::exchange(callback_, nullptr)->Release();
}

void RtdMailbox::add(long topic) {
  const std::lock_guard lock(mutex_);
  changed_.insert(topic);
  if (is_notified_ || window_ == nullptr) return;
  // A full message queue loses this one; the next change tries again.
  is_notified_ = PostMessageW(window_, kChanged, 0, 0) != FALSE;
}

void RtdMailbox::forget(long topic) {
  const std::lock_guard lock(mutex_);
  changed_.erase(topic);
}

std::set<long> RtdMailbox::take() {
  const std::lock_guard lock(mutex_);
  is_notified_ = false;
  return std::exchange(changed_, {});
}

LRESULT CALLBACK RtdMailbox::on_message(HWND window, UINT message, WPARAM word, LPARAM parameter) {
  auto* mailbox = reinterpret_cast<RtdMailbox*>(GetWindowLongPtrW(window, GWLP_USERDATA));
  if (message != kChanged || mailbox == nullptr) return DefWindowProcW(window, message, word, parameter);
  if (mailbox->callback_ != nullptr && FAILED(mailbox->callback_->UpdateNotify())) {
    // Excel is busy, as when a dialogue is open: it is told of the next change.
    const std::lock_guard lock(mailbox->mutex_);
    mailbox->is_notified_ = false;
  }
  return 0;
}

}  // namespace glmhost::com
