#include "vscode-bridge/server/session/daemon_link.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "host/platform/environment.h"
#include "host/platform/file_lock.h"
#include "host/platform/paths.h"
#include "host/platform/process.h"

namespace glmhost::session {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr auto kLookTimeout = 2s;
constexpr auto kLoadTimeout = 30min;
constexpr auto kBetweenStarts = 15s;
constexpr std::uint32_t kDeadlineMs = 20'000;

#ifdef _WIN32
constexpr std::string_view kProgram = "glm.exe";
constexpr char kPathSeparator = ';';
#else
constexpr std::string_view kProgram = "glm";
constexpr char kPathSeparator = ':';
#endif

protocol::ClientOptions client_options() {
  protocol::ClientOptions options;
  options.program = "glm-language-server";
  return options;
}

std::optional<fs::path> find_glm(const fs::path& named) {
  std::error_code failure;
  if (!named.empty()) return fs::exists(named, failure) ? std::optional(named) : std::nullopt;
  const fs::path beside = platform::executable_path().parent_path() / kProgram;
  if (fs::exists(beside, failure)) return beside;
  std::string list = platform::environment_variable("PATH").value_or("");
  list += kPathSeparator;
  if (const auto home = platform::environment_variable("HOME")) list += *home + "/.local/bin" + kPathSeparator;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = list.find(kPathSeparator, begin);
    const fs::path file = platform::path_from_utf8(list.substr(begin, end - begin)) / kProgram;
    if (end > begin && fs::is_regular_file(file, failure)) return file;
    begin = end + 1;
  }
  return std::nullopt;
}

std::chrono::milliseconds until_next_look(DaemonState::Kind kind) {
  switch (kind) {
    case DaemonState::Kind::ready:
    case DaemonState::Kind::idle:
      return 4000ms;
    case DaemonState::Kind::loading:
      return 250ms;
    default:
      return 1000ms;
  }
}

}  // namespace

DaemonLink::DaemonLink(std::shared_ptr<EventQueue> queue) : queue_(std::move(queue)), client_(client_options()) {}

DaemonLink::~DaemonLink() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& [id, call] : calls_) call.cancel();
  if (watcher_.joinable()) watcher_.join();
}

void DaemonLink::set_options(DaemonLinkOptions options) {
  {
    const std::lock_guard lock(mutex_);
    if (options.model != options_.model) {
      wants_model_ = true;
      loaded_name_.clear();
      failure_.clear();
    }
    options_ = std::move(options);
    look_now_ = true;
  }
  wake_.notify_all();
}

void DaemonLink::watch() {
  if (!watcher_.joinable()) watcher_ = std::thread([this] { run(); });
}

void DaemonLink::want_model() {
  {
    const std::lock_guard lock(mutex_);
    wants_model_ = true;
    look_now_ = true;
  }
  wake_.notify_all();
}

void DaemonLink::start_daemon() {
  {
    const std::lock_guard lock(mutex_);
    start_once_ = true;
    look_now_ = true;
  }
  wake_.notify_all();
}

void DaemonLink::run() {
  DaemonState told;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    look_now_ = false;
    lock.unlock();
    DaemonState state = look();
    if (state != told) queue_->post(state);
    told = state;
    lock.lock();
    wake_.wait_for(lock, until_next_look(state.kind), [this] { return stopping_ || look_now_; });
  }
}

DaemonState DaemonLink::look() {
  DaemonState state;
  const auto answer = client_.status(kLookTimeout);
  if (const auto* error = std::get_if<protocol::ErrorMessage>(&answer)) {
    state.kind = DaemonState::Kind::no_daemon;
    state.message = error->sentence;
    try_to_start();
    return state;
  }
  const auto& status = std::get<protocol::Status>(answer);
  state.waiting = status.queue.waiting;
  state.running = status.queue.running;
  const std::lock_guard lock(mutex_);
  end_loading();
  for (const protocol::ModelStatus& model : status.models) {
    if (model.name != loaded_name_ && !(load_ && model.state == "loading")) continue;
    state.model = model.name;
    state.load_fraction = model.load_fraction;
    if (model.state == "loaded") {
      state.kind = DaemonState::Kind::ready;
      wants_model_ = false;
      return state;
    }
  }
  if (load_) {
    state.kind = DaemonState::Kind::loading;
    return state;
  }
  if (wants_model_) {
    wants_model_ = false;
    begin_loading();
    state.kind = DaemonState::Kind::loading;
    return state;
  }
  state.kind = failure_.empty() ? DaemonState::Kind::idle : DaemonState::Kind::failed;
  state.message = failure_.empty() ? "The model is not in memory; the next completion loads it." : failure_;
  return state;
}

// On a thread of its own, which knows nothing of this object: a load may take minutes, and the editor's end must not
// wait for it.
void DaemonLink::begin_loading() {
  load_ = std::make_shared<Load>();
  std::thread([load = load_, model = options_.model] {
    protocol::Client client(client_options());
    load->outcome = client.control({protocol::Control::Action::load_model, model}, kLoadTimeout);
    load->done = true;
  }).detach();
}

void DaemonLink::end_loading() {
  if (!load_ || !load_->done) return;
  if (const auto* result = std::get_if<protocol::Result>(&load_->outcome)) {
    loaded_name_ = result->model;
    failure_.clear();
  } else {
    failure_ = std::get<protocol::ErrorMessage>(load_->outcome).sentence;
  }
  load_.reset();
}

void DaemonLink::try_to_start() {
  fs::path named;
  {
    const std::lock_guard lock(mutex_);
    wants_model_ = true;  // a new daemon has none
    loaded_name_.clear();
    const bool is_due = Clock::now() - last_start_ > kBetweenStarts || last_start_ == Clock::time_point{};
    if (!(options_.may_start && is_due) && !start_once_) return;
    start_once_ = false;
    last_start_ = Clock::now();
    named = options_.glm;
  }
  try {
    if (platform::FileLock::holder(protocol::lock_file(platform::runtime_folder()))) return;  // it is starting
    const auto glm = find_glm(named);
    if (!glm) return;
    platform::make_private_folder(platform::state_folder());
    const std::string serve = "serve";
    platform::spawn_detached(*glm, {&serve, 1}, platform::state_folder() / "serve.log");
  } catch (const std::exception&) {
    // What hinders it is what the next look says: there is no daemon.
  }
}

protocol::Request DaemonLink::to_request(const completion::ModelRequest& request, const std::string& model) {
  protocol::Request out;
  out.model = model;
  protocol::Infill& infill = out.infill.emplace();
  infill.prefix = request.situation.prefix;
  infill.suffix = request.situation.suffix;
  infill.language = request.situation.language.substr(0, 64);
  infill.path = request.situation.path;
  infill.one_line = request.one_line;
  for (const completion::Piece& piece : request.context) infill.context.push_back({piece.path, piece.text});
  out.max_tokens = request.max_tokens;
  out.temperature = request.temperature;
  out.top_p = 0.95f;
  out.seed = request.seed;
  out.logprobs = 1;
  if (request.one_line) out.stop = {"\n"};
  out.priority = request.ahead ? protocol::Priority::batch : protocol::Priority::interactive;
  out.deadline_ms = kDeadlineMs;
  out.memo = false;  // texts that change with every key are not asked for again
  return out;
}

void DaemonLink::start(completion::StreamId id, const completion::ModelRequest& request) {
  std::string model;
  {
    const std::lock_guard lock(mutex_);
    model = options_.model;
  }
  protocol::Client::Callbacks callbacks;
  const auto queue = queue_;
  callbacks.on_delta = [queue, id](const protocol::Delta& delta) {
    StreamText text{id, delta.content, {}};
    for (const auto& token : delta.logprobs) {
      if (!token.empty()) text.tokens.push_back({token[0].text.size(), token[0].logprob});
    }
    queue->post(std::move(text));
  };
  callbacks.on_done = [queue, id](const protocol::Outcome& outcome) {
    StreamDone done{.id = id, .failure = std::nullopt};
    if (const auto* error = std::get_if<protocol::ErrorMessage>(&outcome)) {
      done.failure = error->sentence;
    } else {
      const protocol::Usage& usage = std::get<protocol::Result>(outcome).usage;
      done.prompt_tokens = usage.prompt_tokens;
      done.cached_tokens = usage.cached_prompt_tokens;
      done.generated_tokens = usage.generated_tokens;
      done.prompt_ms = usage.prompt_ms;
      done.decode_ms = usage.decode_ms;
    }
    queue->post(std::move(done));
  };
  calls_.insert_or_assign(id, client_.start(to_request(request, model), std::move(callbacks)));
}

void DaemonLink::cancel(completion::StreamId id) {
  const auto call = calls_.find(id);
  if (call == calls_.end()) return;
  call->second.cancel();
  calls_.erase(call);
}

}  // namespace glmhost::session
