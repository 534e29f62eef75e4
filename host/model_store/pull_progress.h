// What a long pull tells its caller, and how the caller ends it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string_view>

namespace glmhost::model_store {

struct PullProgress {
  std::string_view step;    // "downloading", "copying", "unpacking", "checking"
  std::uint64_t done = 0;   // bytes
  std::uint64_t total = 0;  // 0: not known
};

class PullCancelled : public std::runtime_error {
 public:
  PullCancelled() : std::runtime_error("The pull was cancelled; what was downloaded is kept and used the next time.") {}
};

// Called by every loop of a pull; update() throws PullCancelled when the caller wants an end.
struct PullMonitor {
  std::function<void(const PullProgress&)> progress;
  const std::atomic<bool>* cancel = nullptr;

  void update(const PullProgress& now) const {
    if (cancel != nullptr && *cancel) throw PullCancelled();
    if (progress) progress(now);
  }
};

}  // namespace glmhost::model_store
