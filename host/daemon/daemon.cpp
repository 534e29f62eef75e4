#include "host/daemon/daemon.h"

#include <algorithm>
#include <future>
#include <thread>

#include "host/daemon/clerk.h"
#include "host/daemon/core.h"
#include "host/daemon/engine.h"
#include "host/daemon/loader.h"
#include "host/daemon/memo_writer.h"
#include "host/daemon/sessions.h"
#include "host/platform/file_lock.h"
#include "host/platform/paths.h"
#include "host/platform/process.h"
#include "host/protocol/server_socket.h"

namespace glmhost::daemon {
namespace {

namespace fs = std::filesystem;

fs::path or_default(const fs::path& folder, fs::path (*standard)()) {
  return folder.empty() ? standard() : folder;
}

platform::FileLock take_lock(const fs::path& runtime_folder) {
  platform::make_private_folder(runtime_folder);
  const fs::path file = protocol::lock_file(runtime_folder);
  if (std::optional<platform::FileLock> lock = platform::FileLock::try_acquire(file)) {
    protocol::remove_endpoint(runtime_folder);  // that of a daemon which was killed
    return std::move(*lock);
  }
  const std::uint32_t pid = platform::FileLock::holder(file).value_or(0);
  throw AlreadyRunning(pid, "A GLM Host daemon is running already" +
                                (pid == 0 ? std::string() : " (process " + std::to_string(pid) + ")") +
                                ". Use it as it is, or stop it first with `glm stop`.");
}

// Two daemons on one memo store would be two where everybody expects one: a shell without XDG_RUNTIME_DIR looks for its
// daemon in another place than one with it. Nothing where the folder cannot be written: there is no store then either.
std::optional<platform::FileLock> take_data_lock(const fs::path& data_folder) {
  const fs::path file = data_folder / "daemon.lock";
  // One whose runtime folder was removed ends by itself.
  const auto end = std::chrono::steady_clock::now() + 2 * Sessions::kLookInterval;
  for (;;) {
    try {
      platform::make_private_folder(data_folder);
      if (auto lock = platform::FileLock::try_acquire(file)) return lock;
    } catch (const std::runtime_error&) {
      return std::nullopt;
    }
    if (std::chrono::steady_clock::now() >= end) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  const std::uint32_t pid = platform::FileLock::holder(file).value_or(0);
  throw AlreadyRunning(pid, "A GLM Host daemon (process " + std::to_string(pid) + ") works in " +
                                platform::to_utf8(data_folder) +
                                " already, but listens in another runtime folder: XDG_RUNTIME_DIR was another when it "
                                "was started. Set it as it was then, or end that process.");
}

std::int32_t thread_count(const settings::Settings& settings) {
  if (settings.threads > 0) return settings.threads;
  return std::max(1, static_cast<std::int32_t>(std::thread::hardware_concurrency()));
}

}  // namespace

struct Daemon::State {
  State(const DaemonOptions& options, const fs::path& runtime_folder)
      : lock(take_lock(runtime_folder)),
        data_lock(take_data_lock(or_default(options.data_folder, platform::data_folder))),
        log({.folder = or_default(options.state_folder, platform::state_folder),
             .to_stderr = options.log_to_stderr,
             .level = options.settings.log_level,
             .file_bytes = options.settings.log_file_bytes,
             .files = options.settings.log_files}),
        memo(open_memo(options)),
        engine_threads(thread_count(options.settings)),
        core(options.settings, log, memo.get(), model_store::ModelStore(options.settings.models_folder)),
        sessions(core, {.server = {.runtime_folder = runtime_folder,
                                   .address = options.settings.endpoint == "tcp" ? "tcp://127.0.0.1:0"
                                                                                 : options.settings.endpoint,
                                   .version = GLMHOST_VERSION},
                        .grace = options.grace,
                        .threads = static_cast<std::uint32_t>(engine_threads.size())}) {}

  std::unique_ptr<MemoStore> open_memo(const DaemonOptions& options) {
    if (!options.settings.memo || options.settings.memo_limit == 0) return nullptr;
    return std::make_unique<MemoStore>(
        MemoStore::Options{.file = or_default(options.data_folder, platform::data_folder) / "memo.sqlite",
                           .limit_bytes = options.settings.memo_limit},
        log);
  }

  void start() {
    std::promise<void> listening;
    std::future<void> listens = listening.get_future();
    core.wake_io = [this] { sessions.wake(); };
    io = std::thread([this, ready = std::move(listening)]() mutable { sessions.run(lock, std::move(ready)); });
    try {
      listens.get();
    } catch (...) {
      io.join();
      throw;
    }
    workers.emplace_back([this] { run_clerk(core, kShortPrompts); });
    workers.emplace_back([this] { run_clerk(core, kLongPrompts); });
    workers.emplace_back([this] { run_loader(core, engine_threads); });
    workers.emplace_back([this] { run_engine(core); });
    workers.emplace_back([this] { run_memo_writer(core); });
  }

  void join() {
    const std::lock_guard guard(join_mutex);
    if (io.joinable()) io.join();
    {
      const std::lock_guard core_lock(core.mutex);
      core.ended = true;
      for (auto* wake : {&core.clerk_wake, &core.loader_wake, &core.engine_wake, &core.memo_wake}) wake->notify_all();
    }
    for (std::thread& worker : workers) worker.join();
    workers.clear();
  }

  platform::FileLock lock;  // the last to go
  std::optional<platform::FileLock> data_lock;
  Log log;
  std::unique_ptr<MemoStore> memo;
  kernels::ThreadPool engine_threads;  // longer than the models that compute with it
  Core core;
  Sessions sessions;
  std::mutex join_mutex;
  std::thread io;
  std::vector<std::thread> workers;
};

Daemon::Daemon(const DaemonOptions& options) {
  try {
    state_ = std::make_unique<State>(options, or_default(options.runtime_folder, platform::runtime_folder));
    state_->start();
  } catch (const CannotStart&) {
    throw;
  } catch (const std::exception& error) {
    throw CannotStart(error.what());
  }
  Log& log = state_->log;
  log.info("GLM Host " GLMHOST_VERSION " listens on " + endpoint().address + ", process " +
           std::to_string(platform::process_id()) + ", " + std::to_string(state_->engine_threads.size()) + " threads");
  for (const std::string& warning : options.settings.warnings) log.warning(warning);
  if (!log.problem().empty()) log.warning(log.problem());
}

Daemon::~Daemon() {
  stop();
  stop();
  state_->join();
}

void Daemon::stop() {
  state_->sessions.stop();
}

void Daemon::wait() {
  state_->join();
}

const protocol::Endpoint& Daemon::endpoint() const {
  return state_->sessions.endpoint();
}

std::string Daemon::memo_problem() const {
  return state_->memo == nullptr ? std::string() : state_->memo->problem();
}

Daemon::Counters Daemon::counters() const {
  const std::lock_guard guard(state_->core.mutex);
  const Core::Counters& counters = state_->core.counters;
  return {.prompt_tokens = counters.prompt_tokens,
          .generated_tokens = counters.generated_tokens,
          .steps = counters.steps,
          .loads = counters.loads,
          .unloads = counters.unloads};
}

bool Daemon::wait_until_idle(std::chrono::milliseconds timeout) const {
  std::unique_lock guard(state_->core.mutex);
  return state_->core.idle.wait_for(guard, timeout, [this] { return state_->core.nothing_open(); });
}

}  // namespace glmhost::daemon
