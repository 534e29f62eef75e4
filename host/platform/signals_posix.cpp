#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <stdexcept>
#include <thread>

#include "host/platform/posix_file.h"
#include "host/platform/signals.h"

namespace glmhost::platform {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
constexpr char kStop = 's';
constexpr char kQuit = 'q';

// A signal handler can reach nothing but a global. It writes to a pipe, whose other end a thread reads.
std::atomic<int> handler_pipe{-1};

extern "C" void write_to_handler_pipe(int) {
  const int saved = errno;
  [[maybe_unused]] const ssize_t written = write(handler_pipe.load(), &kStop, 1);
  errno = saved;
}

}  // namespace

struct StopSignals::State {
  std::function<void()> on_stop;
  PosixFile read_end;
  PosixFile write_end;
  std::array<struct sigaction, kSignals.size()> before{};
  std::thread thread;

  void run() {
    for (;;) {
      char byte = 0;
      const ssize_t got = read(read_end.get(), &byte, 1);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0 || byte == kQuit) return;
      on_stop();
    }
  }
};

StopSignals::StopSignals(std::function<void()> on_stop) : state_(std::make_unique<State>()) {
  state_->on_stop = std::move(on_stop);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("Cannot make a pipe for signals: " + error_text(errno) + ".");
  }
  state_->read_end = PosixFile(ends[0]);
  state_->write_end = PosixFile(ends[1]);
  // A handler that finds the pipe full must not block; thousands of unread signals say no more than one.
  fcntl(ends[1], F_SETFL, O_NONBLOCK);

  int expected = -1;
  if (!handler_pipe.compare_exchange_strong(expected, ends[1])) {
    throw std::logic_error("Only one StopSignals may live in a process at a time.");
  }
  state_->thread = std::thread([state = state_.get()] { state->run(); });

  struct sigaction action {};
  action.sa_handler = write_to_handler_pipe;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &state_->before[i]);
    // nohup, and a shell that starts a background job, ask for these to be ignored.
    if (kSignals[i] != SIGTERM && state_->before[i].sa_handler == SIG_IGN) continue;
    sigaction(kSignals[i], &action, nullptr);
  }
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &state_->before[i], nullptr);
  fcntl(state_->write_end.get(), F_SETFL, 0);
  while (write(state_->write_end.get(), &kQuit, 1) < 0 && errno == EINTR) {
  }
  state_->thread.join();
  handler_pipe = -1;
}

void prepare_console() {
  signal(SIGPIPE, SIG_IGN);
  // A stream that the caller closed must not become the next file or socket that is opened. stdin is then empty; stdout
  // is opened for reading, so that writing to it fails as it would have; nobody listens to stderr.
  for (const auto& [descriptor, mode] : {std::pair{0, O_RDONLY}, {1, O_RDONLY}, {2, O_WRONLY}}) {
    if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    const int opened = open("/dev/null", mode);  // the lowest that is free: this one
    if (opened > 2) close(opened);
  }
}

std::vector<std::string> utf8_arguments(int argc, char** argv) {
  return {argv, argv + argc};
}

}  // namespace glmhost::platform
