// Being asked to stop, and the console.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace glmhost::platform {

// While it lives, SIGINT (Ctrl-C), SIGTERM, SIGHUP and, on Windows, Ctrl-Break, closing the console and logging off
// call `on_stop` on a thread of its own, once for each signal, so that the callback may lock and allocate. The second
// call is the user's impatience: a program may exit at once then. One object at a time in a process.
class StopSignals {
 public:
  explicit StopSignals(std::function<void()> on_stop);
  ~StopSignals();  // waits for a running callback; then the handlers are as they were before
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// First thing in main(): a write to a closed pipe becomes an error instead of the process's end, a stdin that was
// closed is an empty one, and no file takes the place of a closed stdout or stderr; on Windows the console speaks UTF-8
// and stdin, stdout and stderr carry bytes as they are.
void prepare_console();

// The arguments as UTF-8, with the program's name first. On Windows they come from the system, not from argv.
std::vector<std::string> utf8_arguments(int argc, char** argv);

}  // namespace glmhost::platform
