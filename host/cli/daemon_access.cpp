#include "host/cli/daemon_access.h"

#include <algorithm>
#include <fstream>
#include <thread>
#include <utility>

#include "host/cli/console.h"
#include "host/cli/exit_code.h"
#include "host/platform/file_lock.h"
#include "host/platform/paths.h"
#include "host/platform/process.h"
#include "host/protocol/server_socket.h"

namespace glmhost::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kStartTimeout = 20s;
constexpr auto kAnswerTimeout = 3s;

std::unique_ptr<protocol::Client> make_client() {
  protocol::ClientOptions options;
  options.program = "glm";
  return std::make_unique<protocol::Client>(std::move(options));
}

// What the daemon wrote before it ended, without the banner that any start has.
std::string last_words(const std::filesystem::path& log, std::uint64_t from) {
  std::ifstream stream(log, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(from));
  std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  constexpr std::size_t kMost = 2000;
  if (text.size() > kMost) text.erase(0, text.size() - kMost);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

std::unique_ptr<protocol::Client> wait_for_answer(std::uint32_t started, const std::filesystem::path& log,
                                                  std::uint64_t log_begin) {
  const auto end = std::chrono::steady_clock::now() + kStartTimeout;
  std::string reason = "It has not opened its socket.";
  while (std::chrono::steady_clock::now() < end) {
    if (protocol::read_endpoint(platform::runtime_folder())) {
      auto client = make_client();
      const auto answer = client->status(1s);
      if (std::holds_alternative<protocol::Status>(answer)) return client;
      reason = std::get<protocol::ErrorMessage>(answer).sentence;
    }
    // Another `glm` may have been quicker; then ours ends, and theirs holds the lock.
    if (started != 0 && !platform::process_is_alive(started) && !daemon_process()) {
      const std::string words = last_words(log, log_begin);
      throw Failure(ExitCode::no_daemon, "The daemon ended right after its start" +
                                             (words.empty() ? "; `glm serve` shows why." : ":\n" + words));
    }
    std::this_thread::sleep_for(20ms);
  }
  throw Failure(ExitCode::no_daemon, "The daemon was started but does not answer after " +
                                         std::to_string(kStartTimeout.count()) + " seconds. " + reason +
                                         " Its log is " + platform::to_utf8(log) + ".");
}

std::unique_ptr<protocol::Client> start_daemon() {
  const std::filesystem::path log = platform::state_folder() / "serve.log";
  std::error_code error;
  platform::make_private_folder(platform::state_folder());
  const std::uintmax_t size = std::filesystem::file_size(log, error);
  const std::uint64_t log_begin = error ? 0 : size;
  std::uint32_t started = 0;
  if (daemon_process()) {
    print_error("a daemon is just starting; waiting for it.");
  } else {
    print_error("no daemon is running, so one is started; `glm stop` ends it.");
    const std::string serve = "serve";
    started = platform::spawn_detached(platform::executable_path(), {&serve, 1}, log);
  }
  return wait_for_answer(started, log, log_begin);
}

}  // namespace

std::optional<std::uint32_t> daemon_process() {
  return platform::FileLock::holder(protocol::lock_file(platform::runtime_folder()));
}

std::unique_ptr<protocol::Client> connect(WithoutDaemon without) {
  const auto endpoint = protocol::read_endpoint(platform::runtime_folder());
  const bool running = endpoint && platform::process_is_alive(endpoint->pid) && daemon_process();
  if (!running) {
    if (without == WithoutDaemon::start) return start_daemon();
    throw Failure(ExitCode::no_daemon,
                  "No daemon is running. Start one with `glm serve`; `glm run` and `glm chat` start "
                  "one by themselves.");
  }
  auto client = make_client();
  const auto answer = client->status(kAnswerTimeout);
  if (const auto* error = std::get_if<protocol::ErrorMessage>(&answer)) {
    throw Failure(ExitCode::no_daemon, error->sentence);
  }
  return client;
}

protocol::Result require_result(const protocol::Outcome& outcome) {
  if (const auto* error = std::get_if<protocol::ErrorMessage>(&outcome)) {
    throw Failure(exit_code(error->code), error->sentence);
  }
  return std::get<protocol::Result>(outcome);
}

}  // namespace glmhost::cli
