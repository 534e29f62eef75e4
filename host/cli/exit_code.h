// What `glm` tells the shell. Stable: scripts act on them; README lists them.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "host/protocol/messages.h"
#include "inference/error.h"

namespace glmhost::cli {

enum class ExitCode {
  success = 0,
  failure = 1,            // anything without a code of its own
  usage = 2,              // a wrong verb, flag or value; input that cannot be used
  no_daemon = 3,          // no daemon runs and none could be started
  no_model = 4,           // there is no such model
  model_load_failed = 5,  // it is damaged, not supported, or does not fit into memory
  busy = 6,               // the daemon refused to take more: try later
  deadline = 7,           // no answer in the time that was allowed
  too_large = 8,          // longer than the model's context
  already_running = 9,    // `glm serve`: a daemon is running
  incomplete = 10,        // the answer was cut before it had the demanded form
  cancelled = 130,        // Ctrl-C
  output_closed = 141,    // whoever read the output went away
};

ExitCode exit_code(protocol::ErrorCode code);
ExitCode exit_code(ErrorKind kind);

// What `--json` calls it: the daemon's own codes (protocol::name), and for what only `glm` knows "failed", "no_daemon",
// "already_running".
std::string_view name(ExitCode code);

// Ends the verb with a sentence for a person and a code for the shell.
class Failure : public std::runtime_error {
 public:
  Failure(ExitCode code, const std::string& sentence) : Failure(code, sentence, std::string(name(code))) {}
  // With the daemon's own code, which says more than the exit code.
  Failure(ExitCode code, const std::string& sentence, std::string error_code)
      : std::runtime_error(sentence), code_(code), error_code_(std::move(error_code)) {}
  ExitCode code() const { return code_; }
  const std::string& error_code() const { return error_code_; }

  // What --json prints holds the error already, beside what was found out.
  Failure&& told() && {
    told_ = true;
    return std::move(*this);
  }
  bool is_told() const { return told_; }

 private:
  ExitCode code_;
  std::string error_code_;
  bool told_ = false;
};

}  // namespace glmhost::cli
