#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "host/model_store/child_process.h"
#include "host/model_store/pull_progress.h"

extern char** environ;

namespace glmhost::model_store {
namespace {

constexpr std::size_t kKeptOutput = 64u << 10;

struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw std::runtime_error(std::string("No pipe can be made: ") + std::strerror(errno) + ".");
    }
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  void close_end(int end) {
    if (ends[end] >= 0) close(ends[end]);
    ends[end] = -1;
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
};

struct Actions {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  explicit Actions(int output) {
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    // A group of its own, so that Ctrl-C on the terminal reaches it through us alone and its children die with it.
    posix_spawnattr_setpgroup(&attributes, 0);
    sigset_t none;
    sigemptyset(&none);
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~Actions() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
};

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// NAME=VALUE for each variable of the child.
std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& more) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const bool replaced = std::any_of(more.begin(), more.end(), [&](const auto& variable) {
      return text.starts_with(variable.first) && text.substr(variable.first.size()).starts_with('=');
    });
    if (!replaced) out.emplace_back(text);
  }
  for (const auto& [name, value] : more) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

}  // namespace

std::optional<ProcessResult> run_process(const ProcessRequest& request) {
  Pipe pipe;
  const Actions actions(pipe.ends[1]);
  const std::vector<std::string> environment = environment_with(request.environment);
  const std::vector<char*> argv = pointers_to(request.arguments);
  const std::vector<char*> envp = pointers_to(environment);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], &actions.files, &actions.attributes, argv.data(), envp.data());
  if (error == ENOENT) return std::nullopt;
  if (error != 0) {
    throw std::runtime_error(request.arguments[0] + " cannot be started: " + std::strerror(error) + ".");
  }
  pipe.close_end(1);

  ProcessResult result;
  std::array<char, 4096> piece{};
  while (true) {
    try {
      if (request.cancel != nullptr && *request.cancel) throw PullCancelled();
      if (request.meanwhile) request.meanwhile();
    } catch (...) {
      kill(-child, SIGKILL);
      wait_for(child);
      throw;
    }
    pollfd readable{pipe.ends[0], POLLIN, 0};
    if (poll(&readable, 1, 100) <= 0) continue;
    const ssize_t got = read(pipe.ends[0], piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    result.output.append(piece.data(), static_cast<std::size_t>(got));
    if (result.output.size() > 2 * kKeptOutput) result.output.erase(0, result.output.size() - kKeptOutput);
  }
  result.exit_code = wait_for(child);
  return result;
}

}  // namespace glmhost::model_store
