#include "host/cli/daemon_access.h"

#include <algorithm>
#include <fstream>
#include <thread>
#include <utility>

#include "host/cli/console.h"
#include "host/cli/exit_code.h"
#include "host/cli/model_access.h"
#include "host/platform/environment.h"
#include "host/platform/file_lock.h"
#include "host/platform/paths.h"
#include "host/platform/process.h"
#include "host/protocol/client.h"

namespace glmhost::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kStartTimeout = 20s;
constexpr auto kAnswerTimeout = 3s;
constexpr auto kMendTimeout = 4s;  // a daemon looks after its files every two seconds

std::unique_ptr<protocol::Client> make_client() {
  protocol::ClientOptions options;
  options.program = "glm";
  return std::make_unique<protocol::Client>(std::move(options));
}

// What the daemon wrote before it ended.
std::string last_words(const std::filesystem::path& log, std::uint64_t from) {
  std::ifstream stream(log, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(from));
  std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  constexpr std::size_t kMost = 2000;
  if (text.size() > kMost) text.erase(0, text.size() - kMost);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

std::string process_text(std::uint32_t process) {
  return process == 0 ? std::string() : " (process " + std::to_string(process) + ")";
}

// A home that cannot be used is a reason for which no daemon can be had.
template <class Body>
auto in_home(const Body& body) {
  try {
    return body();
  } catch (const Failure&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw Failure(ExitCode::no_daemon, error.what());
  }
}

// Why the daemon that runs cannot be reached; empty when it can be, and when none runs. It looks after its files
// itself, so what is wrong with them lasts a moment, unless it hangs.
std::string obstacle() {
  const auto process = daemon_process();
  if (!process) return {};
  try {
    const auto endpoint = protocol::read_endpoint(platform::runtime_folder());
    if (!endpoint || !platform::process_is_alive(endpoint->pid)) {
      return "A daemon" + process_text(*process) + " holds " +
             platform::to_utf8(protocol::lock_file(platform::runtime_folder())) +
             ", but there is no host.json beside it that names its socket: it is starting or ending, or it hangs. Try "
             "again in a moment; `glm stop --force` ends it.";
    }
    constexpr std::string_view kIpc = "ipc://";
    std::error_code error;
    if (!endpoint->address.starts_with(kIpc)) return {};
    const std::string socket = endpoint->address.substr(kIpc.size());
    if (std::filesystem::exists(platform::path_from_utf8(socket), error) || error) return {};
    return "The daemon" + process_text(*process) + " runs, but its socket file " + socket +
           " was removed, so that nothing reaches it. End it with `glm stop --force`; `glm run` then starts a new one.";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

// The daemon works in another folder than this program, so what is given from here is made absolute for it.
void make_paths_absolute() {
  for (const char* name : {"GLM_HOST_HOME", "GLM_HOST_MODELS_FOLDER"}) {
    const auto value = platform::environment_variable(name);
    if (!value || value->starts_with("~")) continue;
    platform::set_environment_variable(
        name, platform::to_utf8(std::filesystem::absolute(platform::path_from_utf8(*value)).lexically_normal()));
  }
  if (const auto model = platform::environment_variable("GLM_HOST_DEFAULT_MODEL")) {
    platform::set_environment_variable("GLM_HOST_DEFAULT_MODEL", model_for_daemon(*model));
  }
}

// The daemon that this program starts when it has to.
class Starter {
 public:
  Starter() : log_(in_home(platform::state_folder) / "serve.log") {}

  void start() {
    print_error("no daemon is running, so one is started; `glm stop` ends it.");
    in_home([] { platform::make_private_folder(platform::state_folder()); });
    make_paths_absolute();
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(log_, error);
    log_begin_ = error ? 0 : size;
    const std::string serve = "serve";
    process_ = in_home([&] { return platform::spawn_detached(platform::executable_path(), {&serve, 1}, log_); });
  }

  bool started() const { return process_ != 0; }
  bool ended() const { return started() && !platform::process_is_alive(process_); }

  [[noreturn]] void fail() const {
    const std::string words = last_words(log_, log_begin_);
    if (!words.empty()) throw Failure(ExitCode::no_daemon, "The daemon ended right after its start:\n" + words);
    std::error_code unknown;
    const auto space = std::filesystem::space(log_.parent_path(), unknown);
    constexpr std::uintmax_t kRoomForWords = 16384;
    if (!unknown && space.available < kRoomForWords) {
      throw Failure(ExitCode::no_daemon,
                    "The daemon ended right after its start and could not write why, since the disk of " +
                        platform::to_utf8(log_.parent_path()) +
                        " is full. Make room on it, or set GLM_HOST_HOME to a folder on another one.");
    }
    throw Failure(ExitCode::no_daemon, "The daemon ended right after its start; `glm serve` shows why.");
  }

  const std::filesystem::path& log() const { return log_; }

 private:
  std::filesystem::path log_;
  std::uint64_t log_begin_ = 0;
  std::uint32_t process_ = 0;
};

// A daemon may be starting (another `glm` was quicker), or ending, or killed a moment ago: what is seen is looked at
// again until one answers.
std::unique_ptr<protocol::Client> connect_or_start() {
  Starter starter;
  std::string reason;
  const auto end = std::chrono::steady_clock::now() + kStartTimeout;
  while (std::chrono::steady_clock::now() < end) {
    const std::string wrong = obstacle();
    if (!wrong.empty()) {
      reason = wrong;
    } else if (daemon_process()) {
      auto client = make_client();
      const auto answer = client->status(kAnswerTimeout);
      if (std::holds_alternative<protocol::Status>(answer)) return client;
      reason = std::get<protocol::ErrorMessage>(answer).sentence;
      if (!starter.started() && daemon_process() && obstacle().empty()) throw Failure(ExitCode::no_daemon, reason);
    } else {
      if (starter.ended()) starter.fail();
      if (!starter.started()) starter.start();
    }
    std::this_thread::sleep_for(20ms);
  }
  throw Failure(ExitCode::no_daemon, "No daemon answered within " + std::to_string(kStartTimeout.count()) +
                                         " seconds. " + reason + " Its log is " + platform::to_utf8(starter.log()) +
                                         ".");
}

}  // namespace

std::optional<std::uint32_t> daemon_process() {
  return in_home([] { return platform::FileLock::holder(protocol::lock_file(platform::runtime_folder())); });
}

std::unique_ptr<protocol::Client> connect(WithoutDaemon without) {
  if (without == WithoutDaemon::start) return connect_or_start();
  const auto end = std::chrono::steady_clock::now() + kMendTimeout;
  std::string wrong = obstacle();
  while (!wrong.empty() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(20ms);
    wrong = obstacle();
  }
  if (!wrong.empty()) throw Failure(ExitCode::no_daemon, wrong);
  if (!daemon_process()) {
    throw Failure(
        ExitCode::no_daemon,
        "No daemon is running. Start one with `glm serve`; `glm run` and `glm chat` start one by themselves.");
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
    throw Failure(exit_code(error->code), error->sentence, std::string(protocol::name(error->code)));
  }
  return std::get<protocol::Result>(outcome);
}

}  // namespace glmhost::cli
