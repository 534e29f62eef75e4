// Runs another program and waits for it.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

namespace glmhost::model_store {

struct ProcessResult {
  int exit_code = 0;   // 128 + signal number when a signal ended it
  std::string output;  // stdout and stderr together, the last 64 KiB
};

// arguments[0] is looked for on the PATH. stdin is empty. Nothing when there is no such program. The child is ended and
// PullCancelled thrown once `cancel` (which may be null) becomes true. Throws std::runtime_error when the system
// refuses.
std::optional<ProcessResult> run_process(const std::vector<std::string>& arguments, const std::atomic<bool>* cancel);

}  // namespace glmhost::model_store
