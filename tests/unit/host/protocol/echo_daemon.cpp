#include "tests/unit/host/protocol/echo_daemon.h"

#include <algorithm>
#include <future>
#include <stdexcept>

#include "host/platform/paths.h"
#include "host/platform/process.h"

namespace glmhost::test {

using namespace protocol;

EchoDaemon::EchoDaemon(const std::filesystem::path& runtime_folder, const std::string& address)
    : folder_(runtime_folder), address_(address) {
  std::promise<Endpoint> listening;
  thread_ = std::thread([&] {
    bool told = false;
    try {
      platform::make_private_folder(folder_);
      const auto lock = platform::FileLock::try_acquire(lock_file(folder_));
      if (!lock) throw std::runtime_error("Another daemon runs.");
      ServerSocket socket({folder_, address_, "test"}, *lock);
      socket_ = &socket;
      told = true;
      listening.set_value(socket.endpoint());
      run(socket);
      const std::lock_guard wait_for_destructor(mutex_);  // which may be inside wake()
    } catch (...) {
      if (!told) listening.set_exception(std::current_exception());
      if (told) throw;
    }
  });
  try {
    endpoint_ = listening.get_future().get();
  } catch (...) {
    thread_.join();
    throw;
  }
}

EchoDaemon::~EchoDaemon() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    socket_->wake();
  }
  thread_.join();
}

EchoDaemon::Seen EchoDaemon::seen() {
  const std::lock_guard lock(mutex_);
  return seen_;
}

bool EchoDaemon::wait_until(const std::function<bool(const Seen&)>& condition) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return condition(seen_); });
}

void EchoDaemon::run(ServerSocket& socket) {
  while (!stop_) {
    const bool working = std::any_of(open_.begin(), open_.end(), [](const auto& entry) {
      return entry.second.request.prompt != "never" && entry.second.request.prompt != "silence";
    });
    const bool slow = std::any_of(open_.begin(), open_.end(),
                                  [](const auto& entry) { return entry.second.request.prompt == "wait"; });
    auto events = socket.poll(std::chrono::milliseconds(!working ? -1 : slow ? 1 : 0));
    {
      const std::lock_guard lock(mutex_);
      for (ServerEvent& event : events) take(socket, std::move(event));
      generate(socket);
    }
    changed_.notify_all();
  }
}

void EchoDaemon::take(ServerSocket& socket, ServerEvent event) {
  if (auto* incoming = std::get_if<Incoming>(&event)) {
    take(socket, incoming->peer, std::move(incoming->envelope));
  } else if (auto* malformed = std::get_if<Malformed>(&event)) {
    seen_.malformed.push_back(malformed->error);
  } else {
    const PeerId peer = std::get<PeerGone>(event).peer;
    ++seen_.gone;
    std::erase_if(open_, [&](const auto& entry) { return entry.first.first == peer; });
  }
}

void EchoDaemon::take(ServerSocket& socket, PeerId peer, Envelope<ClientMessage> envelope) {
  const Key key{peer, envelope.id};
  if (auto* hello = std::get_if<Hello>(&envelope.message)) {
    seen_.hellos.push_back(*hello);
  } else if (auto* request = std::get_if<Request>(&envelope.message)) {
    seen_.requests.push_back(*request);
    if (request->prompt != "silence")
      socket.send(peer, {envelope.id, Accepted{"echo", static_cast<std::uint32_t>(open_.size())}});
    open_[key] = {std::move(*request), request->credits, 0, "", ""};
  } else if (std::holds_alternative<Cancel>(envelope.message)) {
    seen_.cancels += open_.erase(key);
  } else if (const auto* credit = std::get_if<Credit>(&envelope.message)) {
    ++seen_.credits;
    if (const auto open = open_.find(key); open != open_.end()) open->second.credits += credit->deltas;
  } else if (std::holds_alternative<StatusRequest>(envelope.message)) {
    Status status;
    status.pid = platform::process_id();
    status.endpoint = socket.endpoint().address;
    status.queue.running = static_cast<std::uint32_t>(open_.size());
    socket.send(peer, {envelope.id, status});
  } else if (const auto* control = std::get_if<Control>(&envelope.message)) {
    if (control->model == "none") {
      socket.send(peer, {envelope.id, ErrorMessage{ErrorCode::no_model, "There is no model \"none\"."}});
    } else {
      socket.send(peer, {envelope.id, Result{}});
    }
  }
}

// One token for every open request.
void EchoDaemon::generate(ServerSocket& socket) {
  for (auto entry = open_.begin(); entry != open_.end();) {
    auto& [key, open] = *entry;
    if (open.request.prompt == "never" || open.request.prompt == "silence") {
      ++entry;
      continue;
    }
    const std::string token = std::to_string(open.made++) + " ";
    open.unsent += token;
    open.all += token;
    if (open.credits > 0) {
      --open.credits;
      ++seen_.deltas;
      socket.send(
          key.first,
          {key.second,
           Delta{.content = std::exchange(open.unsent, ""), .reasoning = {}, .logprobs = {}, .tool_calls = {}}});
    }
    if (open.made < open.request.max_tokens) {
      ++entry;
      continue;
    }
    Result result;
    result.content = open.all;
    result.finish_reason = "length";
    result.model = "echo";
    result.usage.generated_tokens = static_cast<std::uint32_t>(open.made);
    socket.send(key.first, {key.second, result});
    entry = open_.erase(entry);
  }
}

}  // namespace glmhost::test
