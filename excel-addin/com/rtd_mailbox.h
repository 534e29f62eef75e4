// Carries "this topic has changed" from any thread to Excel's.
#pragma once

#include <windows.h>

#include <mutex>
#include <set>

#include "excel-addin/com/rtd_interfaces.h"

namespace glmhost::com {

class RtdMailbox {
 public:
  // On Excel's thread, where its window lives. Takes a reference to `callback`, which may be null.
  explicit RtdMailbox(IRTDUpdateEvent* callback);
  ~RtdMailbox();
  RtdMailbox(const RtdMailbox&) = delete;
  RtdMailbox& operator=(const RtdMailbox&) = delete;

  bool is_ready() const { return window_ != nullptr; }

  void add(long topic);  // any thread
  void forget(long topic);

  // On Excel's thread: what has changed since the last time; from then on Excel is notified again.
  std::set<long> take();

  // On Excel's thread: nothing is notified any more. add() may still come.
  void close();

 private:
  static LRESULT CALLBACK on_message(HWND window, UINT message, WPARAM word, LPARAM parameter);

  std::mutex mutex_;
  HWND window_ = nullptr;     // guarded by mutex_
  std::set<long> changed_;    // guarded by mutex_
  bool is_notified_ = false;  // guarded by mutex_; a message is on its way, or Excel has been told
  IRTDUpdateEvent* callback_;
};

}  // namespace glmhost::com
