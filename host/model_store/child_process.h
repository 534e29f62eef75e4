// Runs another program and waits for it.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace glmhost::model_store {

struct ProcessResult {
  int exit_code = 0;   // 128 + signal number when a signal ended it
  std::string output;  // stdout and stderr together, the last 64 KiB
};

struct ProcessRequest {
  std::vector<std::string> arguments;                            // [0] is looked for on the PATH
  std::vector<std::pair<std::string, std::string>> environment;  // set for the child besides what this process has
  const std::atomic<bool>* cancel = nullptr;
  std::function<void()> meanwhile;  // called about ten times a second while the child runs; may be empty
};

// stdin is empty. Nothing when there is no such program. The child is ended and PullCancelled thrown once `cancel`
// becomes true, or whatever `meanwhile` throws. Throws std::runtime_error when the system refuses.
std::optional<ProcessResult> run_process(const ProcessRequest& request);

}  // namespace glmhost::model_store
