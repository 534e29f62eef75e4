// The daemon in a process: `glm serve`, and the tests.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "host/protocol/client.h"
#include "host/settings/settings.h"

namespace glmhost::daemon {

// what() is a whole sentence for the person who started it.
class CannotStart : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class AlreadyRunning : public CannotStart {
 public:
  AlreadyRunning(std::uint32_t pid, const std::string& sentence) : CannotStart(sentence), pid_(pid) {}
  std::uint32_t pid() const { return pid_; }  // 0: unknown

 private:
  std::uint32_t pid_;
};

struct DaemonOptions {
  settings::Settings settings;
  // Empty: platform's folders.
  std::filesystem::path runtime_folder;  // lock, socket, host.json
  std::filesystem::path data_folder;     // memo.sqlite
  std::filesystem::path state_folder;    // daemon.log
  bool log_to_stderr = false;            // besides the file
  // How long running requests may go on after stop() before they are cancelled.
  std::chrono::milliseconds grace{5000};
};

class Daemon {
 public:
  // Takes the lock, opens the memo store, listens, writes host.json and starts its threads; clients can connect when it
  // returns. Loads no model. Throws CannotStart; AlreadyRunning when another daemon holds the lock.
  explicit Daemon(const DaemonOptions& options);
  ~Daemon();  // stops at once and waits
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  // Both from any thread. The first stop() lets running requests finish within the grace; a second one cancels them.
  // Requests that have not begun are refused at once.
  void stop();
  void wait();  // until it has stopped: by stop(), by a client's request, or because nobody needed it for idle_exit_s

  const protocol::Endpoint& endpoint() const;
  std::string memo_problem() const;  // why answers are not kept at the moment; empty when they are, or are not to be

  // What the engine has done since the start: a test's way to see that nothing is computed.
  struct Counters {
    std::uint64_t prompt_tokens = 0;
    std::uint64_t generated_tokens = 0;
    std::uint64_t steps = 0;
    std::uint64_t loads = 0;
    std::uint64_t unloads = 0;
  };
  Counters counters() const;
  // Until no job is under way, whether anybody waits for it or not. False when the time is up.
  bool wait_until_idle(std::chrono::milliseconds timeout) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace glmhost::daemon
