#include "host/daemon/sessions.h"

#include <algorithm>

#include "host/daemon/status.h"
#include "host/ranges/shared_memory.h"

namespace glmhost::daemon {

using namespace protocol;

namespace {

// A pipeline that was cancelled without a message to anybody ends within moments, and wakes nobody.
constexpr std::chrono::milliseconds kTablesEnd{20};

}  // namespace

Sessions::Sessions(Core& core, Options options)
    : core_(core),
      options_(std::move(options)),
      tables_(options_.threads, [this](PeerId peer, std::uint64_t id, DaemonMessage message) {
        const std::lock_guard guard(core_.mutex);
        core_.send(peer, id, std::move(message));
      }) {}

void Sessions::run(const platform::FileLock& lock, std::promise<void> listening) {
  try {
    auto socket = std::make_unique<ServerSocket>(options_.server, lock);
    endpoint_ = socket->endpoint();
    const std::lock_guard guard(socket_mutex_);
    socket_ = std::move(socket);
  } catch (...) {
    listening.set_exception(std::current_exception());
    return;
  }
  listening.set_value();
  serve();
  core_.log.info("stopped");
  std::unique_ptr<ServerSocket> socket;
  {
    const std::lock_guard guard(socket_mutex_);
    socket = std::move(socket_);
  }
  // Gone with host.json and the socket's file here.
}

void Sessions::wake() {
  const std::lock_guard guard(socket_mutex_);
  if (socket_ != nullptr) socket_->wake();
}

void Sessions::stop() {
  ++stops_;
  wake();
}

void Sessions::serve() {
  ranges::sweep();  // what killed programs have left
  for (;;) {
    std::vector<ServerEvent> events = socket_->poll(time_to_wait());
    for (ServerEvent& event : events) handle(event);
    tables_.expire(Clock::now());
    {
      const bool no_tables = tables_.nothing_open();
      const std::lock_guard guard(core_.mutex);
      if (!no_tables) core_.last_activity = Clock::now();
      core_.expire(Clock::now());
      const auto idle_exit = std::chrono::seconds(core_.settings.idle_exit_s);
      if (idle_exit.count() > 0 && core_.nothing_open() && Clock::now() >= core_.last_activity + idle_exit) ++stops_;
    }
    if (stops_ > 0) go_on_stopping();
    send_all();
    if (stopping_) {
      const bool no_tables = tables_.nothing_open();
      const std::lock_guard guard(core_.mutex);
      if (no_tables && core_.nothing_open() && core_.outbox.empty()) break;
    }
  }
  for (const SubscriberKey& request : stop_requests_) socket_->send(request.first, {request.second, Result{}});
}

// Until the next thing that happens by time alone; never, when there is none: an idle daemon sleeps.
std::chrono::milliseconds Sessions::time_to_wait() const {
  const std::optional<Clock::time_point> table_deadline = tables_.next_deadline();
  const bool no_tables = tables_.nothing_open();
  const std::lock_guard guard(core_.mutex);
  if (!core_.outbox.empty()) return std::chrono::milliseconds(0);
  std::optional<Clock::time_point> next = core_.next_timer();
  const auto sooner = [&](Clock::time_point time) { next = next ? std::min(*next, time) : time; };
  if (table_deadline) sooner(*table_deadline);
  if (stopping_ && !no_tables) sooner(Clock::now() + kTablesEnd);
  if (core_.settings.idle_exit_s > 0 && core_.nothing_open()) {
    sooner(core_.last_activity + std::chrono::seconds(core_.settings.idle_exit_s));
  }
  if (stopping_ && !cancelled_) sooner(cancel_at_);
  if (!next) return std::chrono::milliseconds(-1);
  const Clock::time_point now = Clock::now();
  if (*next <= now) return std::chrono::milliseconds(0);
  // An hour at a time: a far deadline must not overflow somebody's clock.
  return std::min<std::chrono::milliseconds>(std::chrono::ceil<std::chrono::milliseconds>(*next - now),
                                             std::chrono::hours(1));
}

void Sessions::handle(ServerEvent& event) {
  if (auto* incoming = std::get_if<Incoming>(&event)) {
    handle(incoming->peer, incoming->envelope.id, incoming->envelope.message);
  } else if (const auto* malformed = std::get_if<Malformed>(&event)) {
    core_.log.warning("refused a malformed message of client " + std::to_string(malformed->peer));
    const std::lock_guard guard(core_.mutex);
    ++core_.counters.refused;
  } else if (const auto* gone = std::get_if<PeerGone>(&event)) {
    core_.log.debug(shown(gone->peer) + " is gone");
    programs_.erase(gone->peer);
    std::erase_if(stop_requests_, [&](const SubscriberKey& key) { return key.first == gone->peer; });
    tables_.forget_peer(gone->peer);
    ranges::sweep();
    const std::lock_guard guard(core_.mutex);
    core_.forget_peer(gone->peer);
  }
}

std::string Sessions::shown(PeerId peer) const {
  const auto program = programs_.find(peer);
  return "client " + std::to_string(peer) + (program == programs_.end() ? "" : " (" + program->second + ")");
}

void Sessions::handle(PeerId peer, std::uint64_t id, ClientMessage& message) {
  if (const auto* hello = std::get_if<Hello>(&message)) {
    programs_[peer] = hello->program;
    core_.log.debug("client " + std::to_string(peer) + ": " + hello->program + " " + hello->version + ", process " +
                    std::to_string(hello->pid));
    return;
  }
  if (std::holds_alternative<StatusRequest>(message)) return tell_status(peer, id);
  if (const auto* wanted = std::get_if<Control>(&message)) return control(peer, id, *wanted);
  if (auto* table = std::get_if<TableRequest>(&message)) {
    if (!stopping_) return tables_.open(peer, id, std::move(*table));
    socket_->send(peer, {id, ErrorMessage{ErrorCode::backend_failed, "The daemon is being stopped."}});
    return;
  }
  if (std::holds_alternative<Cancel>(message)) tables_.cancel(peer, id);
  const std::lock_guard guard(core_.mutex);
  if (auto* request = std::get_if<Request>(&message)) {
    core_.open(peer, id, std::move(*request));
  } else if (std::holds_alternative<Cancel>(message)) {
    core_.cancel({peer, id});
  } else if (const auto* credit = std::get_if<Credit>(&message)) {
    core_.add_credits({peer, id}, credit->deltas);
  }
}

void Sessions::control(PeerId peer, std::uint64_t id, const Control& control) {
  if (control.action == Control::Action::stop_daemon) {
    core_.log.info(shown(peer) + " asks the daemon to stop");
    stop_requests_.emplace_back(peer, id);
    ++stops_;
    return;
  }
  const bool load = control.action == Control::Action::load_model;
  const std::lock_guard guard(core_.mutex);
  core_.open_control(peer, id, load ? Purpose::load_model : Purpose::unload_model, control.model);
}

void Sessions::tell_status(PeerId peer, std::uint64_t id) {
  Status status;
  try {
    status = make_status(core_, endpoint_.address, started_, options_.threads);
  } catch (const std::exception& error) {
    core_.log.error("making the status: " + std::string(error.what()));
    socket_->send(peer, {id, ErrorMessage{ErrorCode::internal, error.what()}});
    return;
  }
  socket_->send(peer, {id, std::move(status)});
}

void Sessions::go_on_stopping() {
  // Whoever waits for a pipeline can ask the next daemon: what it computes is in no store.
  if (!stopping_) tables_.cancel_all({ErrorCode::backend_failed, "The daemon is being stopped."});
  const std::lock_guard guard(core_.mutex);
  if (!stopping_) {
    stopping_ = true;
    cancel_at_ = Clock::now() + options_.grace;
    core_.log.info("stopping");
    core_.stop_taking();
  }
  if (!cancelled_ && (stops_ > 1 || Clock::now() >= cancel_at_)) {
    cancelled_ = true;
    core_.cancel_running();
  }
}

void Sessions::send_all() {
  std::vector<Outgoing> outgoing;
  {
    const std::lock_guard guard(core_.mutex);
    outgoing.swap(core_.outbox);
  }
  // A client that is gone, or does not read, is told of by the next poll.
  for (const Outgoing& message : outgoing) socket_->send(message.peer, message.envelope);
}

}  // namespace glmhost::daemon
