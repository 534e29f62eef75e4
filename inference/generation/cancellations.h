// What the scheduler shares with threads that cancel.
#pragma once

#include <atomic>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "inference/generation/scheduler.h"

namespace glmhost::generation {

// Which sequences are to be cancelled, and whom the forward pass under way is for: it is abandoned once
// nobody is left who needs it. Every member may be called from any thread.
class Cancellations {
 public:
  void add(SequenceId id) {
    const std::lock_guard lock(mutex_);
    live_.insert(id);
  }
  void remove(SequenceId id) {
    const std::lock_guard lock(mutex_);
    live_.erase(id);
    cancelled_.erase(id);
  }
  void cancel(SequenceId id) {
    const std::lock_guard lock(mutex_);
    if (!live_.contains(id)) return;
    cancelled_.insert(id);
    in_pass_.erase(id);
    if (pass_ && in_pass_.empty()) abandon_ = true;
  }
  bool cancelled(SequenceId id) const {
    const std::lock_guard lock(mutex_);
    return cancelled_.contains(id);
  }
  void begin_pass(const std::vector<SequenceId>& ids) {
    const std::lock_guard lock(mutex_);
    pass_ = true;
    for (const SequenceId id : ids) {
      if (!cancelled_.contains(id)) in_pass_.insert(id);
    }
    abandon_ = in_pass_.empty();
  }
  void end_pass() {
    const std::lock_guard lock(mutex_);
    pass_ = false;
    in_pass_.clear();
  }
  const std::atomic<bool>* abandon() const { return &abandon_; }

 private:
  mutable std::mutex mutex_;
  std::unordered_set<SequenceId> live_;
  std::unordered_set<SequenceId> cancelled_;
  std::unordered_set<SequenceId> in_pass_;
  bool pass_ = false;
  std::atomic<bool> abandon_ = false;
};

}  // namespace glmhost::generation
