// Ctrl-C while a verb works: the first one asks it to end cleanly, the second one ends the program.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>

#include "host/platform/signals.h"

namespace glmhost::cli {

class Interrupt {
 public:
  Interrupt();

  const std::atomic<bool>& flag() const { return asked_; }
  bool asked() const { return asked_; }
  void reset() { asked_ = false; }  // the answer was cancelled, a conversation goes on

  // Called (on another thread) at each Ctrl-C instead of what the class comment says; empty: back to that. Returns when
  // no call of the old one is under way.
  void on_signal(std::function<void()> action);

 private:
  void signalled();

  std::atomic<bool> asked_ = false;
  std::mutex mutex_;
  std::function<void()> action_;
  platform::StopSignals signals_;
};

}  // namespace glmhost::cli
