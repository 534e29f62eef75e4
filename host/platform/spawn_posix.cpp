#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <vector>

#include "host/platform/paths.h"
#include "host/platform/posix_file.h"
#include "host/platform/process.h"

namespace glmhost::platform {
namespace {

// Everything from here to exec runs between fork and exec of a process with many threads: only async-signal-safe calls.

void close_others_at_exec() {
#if defined(SYS_close_range)
  constexpr unsigned kCloseOnExec = 1u << 2;  // CLOSE_RANGE_CLOEXEC, Linux 5.11
  if (syscall(SYS_close_range, 3u, ~0u, kCloseOnExec) == 0) return;
#endif
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const int end = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 1 << 20));
  for (int descriptor = 3; descriptor < end; ++descriptor) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

void reset_signals() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

struct Report {
  pid_t pid = 0;
  int error = 0;  // 0: about to become the program
};

void report(int pipe, int error) {
  const Report message{getpid(), error};
  [[maybe_unused]] const ssize_t written = write(pipe, &message, sizeof(message));
}

[[noreturn]] void become_program(const char* program, char* const* argv, int null_file, int log_file, int pipe) {
  if (dup2(null_file, 0) < 0 || dup2(log_file, 1) < 0 || dup2(log_file, 2) < 0 || chdir("/") != 0) {
    report(pipe, errno);
    _exit(127);
  }
  reset_signals();
  close_others_at_exec();
  report(pipe, 0);
  execv(program, argv);
  report(pipe, errno);
  _exit(127);
}

// A new session has no terminal; its leader's child can never get one again.
[[noreturn]] void leave_session(const char* program, char* const* argv, int null_file, int log_file, int pipe) {
  if (setsid() < 0) {
    report(pipe, errno);
    _exit(127);
  }
  const pid_t child = fork();
  if (child == 0) become_program(program, argv, null_file, log_file, pipe);
  if (child < 0) report(pipe, errno);
  _exit(0);
}

// dup2(x, x) would leave a descriptor that closes at exec, so none of ours may be 0, 1 or 2.
PosixFile above_standard(PosixFile file) {
  if (!file || file.get() > 2) return file;
  return PosixFile(fcntl(file.get(), F_DUPFD_CLOEXEC, 3));
}

}  // namespace

std::uint32_t spawn_detached(const std::filesystem::path& program, std::span<const std::string> arguments,
                             const std::filesystem::path& log_file) {
  const std::filesystem::path absolute = std::filesystem::absolute(program);
  const auto fail = [&](int error) {
    throw std::runtime_error("Cannot start " + to_utf8(absolute) + ": " + error_text(error) + ".");
  };
  const PosixFile log = above_standard(
      PosixFile(open(log_file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600)));
  if (!log) throw std::runtime_error("Cannot open the log " + to_utf8(log_file) + ": " + error_text(errno) + ".");
  const PosixFile null = above_standard(PosixFile(open("/dev/null", O_RDONLY | O_CLOEXEC)));
  if (!null) fail(errno);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail(errno);
  const PosixFile read_end = above_standard(PosixFile(ends[0]));
  PosixFile write_end = above_standard(PosixFile(ends[1]));
  if (!read_end || !write_end) fail(errno);

  std::vector<std::string> words{to_utf8(absolute)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  const pid_t child = fork();
  if (child == 0) leave_session(absolute.c_str(), argv.data(), null.get(), log.get(), write_end.get());
  if (child < 0) fail(errno);
  write_end.reset();
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }

  // The pipe closes when the program is entered. A second report, or one with an error, says that it was not.
  Report last;
  last.error = ECHILD;
  for (;;) {
    Report message;
    const ssize_t got = read(read_end.get(), &message, sizeof(message));
    if (got < 0 && errno == EINTR) continue;
    if (got != static_cast<ssize_t>(sizeof(message))) break;
    last = message;
  }
  if (last.error != 0) fail(last.error);
  return static_cast<std::uint32_t>(last.pid);
}

}  // namespace glmhost::platform
