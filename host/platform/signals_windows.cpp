#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <windows.h>
// shellapi.h needs windows.h before it.
#include <shellapi.h>

#include <atomic>
#include <mutex>
#include <stdexcept>

#include "host/platform/signals.h"
#include "host/platform/windows_api.h"

namespace glmhost::platform {

struct StopSignals::State {
  std::function<void()> on_stop;
};

namespace {

// The console's handler gets no argument of ours. The mutex keeps the callback alive while it runs.
std::mutex handler_mutex;
std::function<void()>* handler_callback = nullptr;

// Windows calls this on a new thread of this process.
BOOL WINAPI handle_console_event(DWORD event) {
  {
    const std::lock_guard lock(handler_mutex);
    if (handler_callback == nullptr) return FALSE;
    (*handler_callback)();
  }
  // After these the process is ended as soon as the handler returns; main() needs that time to stop by itself.
  if (event == CTRL_CLOSE_EVENT || event == CTRL_LOGOFF_EVENT || event == CTRL_SHUTDOWN_EVENT) Sleep(10'000);
  return TRUE;
}

}  // namespace

StopSignals::StopSignals(std::function<void()> on_stop) : state_(std::make_unique<State>()) {
  state_->on_stop = std::move(on_stop);
  const std::lock_guard lock(handler_mutex);
  if (handler_callback != nullptr) throw std::logic_error("Only one StopSignals may live in a process at a time.");
  handler_callback = &state_->on_stop;
  SetConsoleCtrlHandler(handle_console_event, TRUE);
}

StopSignals::~StopSignals() {
  SetConsoleCtrlHandler(handle_console_event, FALSE);
  const std::lock_guard lock(handler_mutex);
  handler_callback = nullptr;
}

void prepare_console() {
  SetConsoleOutputCP(CP_UTF8);
  SetConsoleCP(CP_UTF8);
  for (FILE* stream : {stdin, stdout, stderr}) _setmode(_fileno(stream), _O_BINARY);
}

std::vector<std::string> utf8_arguments(int argc, char** argv) {
  int count = 0;
  const LocalMemory<wchar_t*> words(CommandLineToArgvW(GetCommandLineW(), &count));
  if (!words) return {argv, argv + argc};
  std::vector<std::string> arguments;
  for (int i = 0; i < count; ++i) arguments.push_back(to_utf8(words.get()[i]));
  return arguments;
}

}  // namespace glmhost::platform
