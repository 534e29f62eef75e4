#include "host/protocol/client_io.h"

#include <algorithm>
#include <stdexcept>

#include "host/platform/file_lock.h"
#include "host/platform/paths.h"
#include "host/protocol/decode.h"
#include "host/protocol/timing.h"

namespace glmhost::protocol {
namespace {

constexpr int kMostMessagesAtOnce = 256;  // then commands and deadlines get their turn
constexpr auto kRetry = std::chrono::milliseconds(20);

ErrorMessage not_running() {
  return {ErrorCode::backend_failed,
          "The GLM daemon is not running. Start it with `glm serve`, or let the system start it at login."};
}

std::string process(const Endpoint& endpoint) {
  return "The GLM daemon (process " + std::to_string(endpoint.pid) + ")";
}

ErrorMessage client_ended() {
  return {ErrorCode::cancelled,
          "The request was cancelled, because the program that made it closed its connection to the GLM daemon."};
}

ErrorMessage no_answer(const Endpoint& endpoint, std::chrono::milliseconds waited) {
  return {ErrorCode::backend_failed,
          process(endpoint) + " did not answer within " + duration_text(waited) +
              ". If it hangs, end that process and start the daemon again with `glm serve`."};
}

}  // namespace

ClientIo::ClientIo(ClientOptions options) : options_(std::move(options)), waker_(context_) {}

void ClientIo::run_thread(const std::shared_ptr<ClientIo>& self) {
  self->thread_ = std::thread([self] { self->run(); });
}

std::shared_ptr<OpenCall> ClientIo::start(const ClientMessage& message, Client::Callbacks callbacks,
                                          std::uint32_t credits, std::chrono::milliseconds timeout,
                                          std::string deadline_sentence) {
  auto call = std::make_shared<OpenCall>();
  call->callbacks = std::move(callbacks);
  call->credits = credits;
  call->deadline = Clock::now() + timeout;
  call->deadline_sentence = std::move(deadline_sentence);
  call->id = ++last_id_;
  call->frames = encode(Envelope<ClientMessage>{call->id, message});
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      call->reply = client_ended();
    } else {
      started_.push_back(call);
    }
  }
  waker_.wake();
  return call;
}

void ClientIo::cancel(const std::shared_ptr<OpenCall>& call) {
  {
    const std::lock_guard lock(mutex_);
    cancelled_.push_back(call);
  }
  waker_.wake();
}

void ClientIo::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  waker_.wake();
  // A callback may destroy the Client; the thread then ends after it by itself.
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void ClientIo::run() {
  for (;;) {
    try {
      step();
    } catch (const std::exception& error) {
      drop_connection({ErrorCode::internal, std::string("The connection to the GLM daemon failed: ") + error.what() +
                                                ". Repeat the request."});
    }
    const std::lock_guard lock(mutex_);
    if (stopping_) break;
  }
  adopt(started_);  // nothing is added any more
  // The daemon cancels what a closed connection had asked for.
  drop_connection(client_ended());
}

void ClientIo::step() {
  std::vector<zmq::pollitem_t> items = {{waker_.socket().handle(), 0, ZMQ_POLLIN, 0}};
  if (connection_) connection_->add_poll_items(items);
  poll_sockets(items, time_to_wait());
  waker_.clear();
  take_commands();
  take_messages();
  expire();
}

std::chrono::milliseconds ClientIo::time_to_wait() const {
  auto next = Clock::time_point::max();
  if (!deadlines_.empty()) next = deadlines_.begin()->first;
  if (connection_ && !greeted_) next = std::min(next, connect_deadline_);
  if (retry_at_) next = std::min(next, *retry_at_);
  if (next == Clock::time_point::max()) return std::chrono::milliseconds(-1);
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
  return std::clamp(wait, std::chrono::milliseconds(0), std::chrono::milliseconds(60'000));
}

void ClientIo::take_commands() {
  std::vector<std::shared_ptr<OpenCall>> started;
  std::vector<std::shared_ptr<OpenCall>> cancelled;
  {
    const std::lock_guard lock(mutex_);
    started.swap(started_);
    cancelled.swap(cancelled_);
  }
  adopt(started);
  for (const auto& call : started) {
    if (!calls_.contains(call->id)) continue;  // the connection failed just now, and all calls with it
    const std::size_t size = call->frames[2].size();
    if (size > kMaxBodyBytes) {
      finish(call, ErrorMessage{ErrorCode::too_large, "The request is " + std::to_string(size) +
                                                          " bytes long; at most " + std::to_string(kMaxBodyBytes) +
                                                          " are allowed. Send less at once."});
      continue;
    }
    if (!connection_ && !retry_at_) connect();
    if (greeted_) connection_->send(std::exchange(call->frames, {}));
  }
  for (const auto& call : cancelled) {
    if (!calls_.contains(call->id)) continue;
    if (greeted_) connection_->send(encode(Envelope<ClientMessage>{call->id, Cancel{}}));
    finish(call, ErrorMessage{ErrorCode::cancelled, "The request was cancelled."});
  }
}

void ClientIo::adopt(const std::vector<std::shared_ptr<OpenCall>>& started) {
  for (const auto& call : started) {
    calls_[call->id] = call;
    deadlines_.emplace(call->deadline, call->id);
  }
}

void ClientIo::connect() {
  connect_deadline_ = Clock::now() + options_.connect_timeout;
  try_to_connect();
}

void ClientIo::try_to_connect() {
  greeted_ = false;
  retry_at_.reset();
  try {
    const auto folder = options_.runtime_folder.empty() ? platform::runtime_folder() : options_.runtime_folder;
    std::optional<Endpoint> endpoint = read_endpoint(folder);
    if (!endpoint) return fail_all(not_running());
    if (endpoint->protocol_version != kProtocolVersion) {
      return fail_all({ErrorCode::backend_failed, version_mismatch("daemon", endpoint->protocol_version, "client")});
    }
    connection_.emplace(context_, std::move(*endpoint), options_.program, ++connections_made_);
  } catch (const std::exception& error) {
    drop_connection({ErrorCode::backend_failed, error.what()});
  }
}

void ClientIo::take_messages() {
  if (!connection_) return;
  connection_->look_around();
  for (int count = 0; count < kMostMessagesAtOnce; ++count) {
    auto received = connection_->receive();
    if (!received) {
      if (connection_->is_lost()) connection_ended();
      return;
    }
    if (auto* envelope = std::get_if<Envelope<DaemonMessage>>(&*received)) {
      take(std::move(*envelope));
    } else {
      const auto& [id, error] = std::get<DecodeError>(*received);
      const ErrorMessage failed{ErrorCode::backend_failed, error.sentence};
      if (const auto call = calls_.find(id); call != calls_.end()) {
        finish(std::shared_ptr(call->second), failed);
      } else if (!greeted_) {
        drop_connection(failed);
      }
    }
    if (!connection_) return;
  }
}

void ClientIo::take(Envelope<DaemonMessage> envelope) {
  if (std::holds_alternative<Hello>(envelope.message)) return take_hello();
  if (!greeted_) {
    if (const auto* error = std::get_if<ErrorMessage>(&envelope.message)) drop_connection(*error);
    return;
  }
  const auto found = calls_.find(envelope.id);
  if (found == calls_.end()) return;  // cancelled meanwhile
  const std::shared_ptr<OpenCall> call = found->second;
  if (const auto* accepted = std::get_if<Accepted>(&envelope.message)) {
    if (call->callbacks.on_accepted) call->callbacks.on_accepted(*accepted);
  } else if (const auto* delta = std::get_if<Delta>(&envelope.message)) {
    if (call->callbacks.on_delta) {
      call->content_seen += delta->content;
      call->reasoning_seen += delta->reasoning;
      call->callbacks.on_delta(*delta);
    }
    give_credit(*call);
  } else if (auto* result = std::get_if<Result>(&envelope.message)) {
    give_rest(*call, *result);
    finish(call, std::move(*result));
  } else if (auto* error = std::get_if<ErrorMessage>(&envelope.message)) {
    finish(call, std::move(*error));
  } else if (auto* status = std::get_if<Status>(&envelope.message)) {
    finish(call, std::move(*status));
  }
}

void ClientIo::take_hello() {
  if (std::exchange(greeted_, true)) return;
  for (const auto& [id, call] : calls_) {
    if (!call->frames.empty()) connection_->send(std::exchange(call->frames, {}));
  }
}

// A daemon without credit, or with the answer in its memo store, sends the rest of the text with the result only.
void ClientIo::give_rest(OpenCall& call, const Result& result) {
  if (call.credits == 0 || !call.callbacks.on_delta) return;
  if (!result.content.starts_with(call.content_seen) || !result.reasoning.starts_with(call.reasoning_seen)) return;
  Delta rest;
  rest.content = result.content.substr(call.content_seen.size());
  rest.reasoning = result.reasoning.substr(call.reasoning_seen.size());
  if (!rest.content.empty() || !rest.reasoning.empty()) call.callbacks.on_delta(rest);
}

// Half of them at a time: the daemon need not stop, and not every delta costs a message back.
void ClientIo::give_credit(OpenCall& call) {
  if (call.credits == 0 || ++call.deltas_taken < (call.credits + 1) / 2) return;
  connection_->send(encode(Envelope<ClientMessage>{call.id, Credit{std::exchange(call.deltas_taken, 0)}}));
}

void ClientIo::connection_ended() {
  const Endpoint endpoint = connection_->endpoint();
  if (greeted_) {
    return drop_connection(
        {ErrorCode::backend_failed, process(endpoint) +
                                        " went away before it had answered. Start it again with `glm serve` and "
                                        "repeat the request; its log may say why it ended."});
  }
  connection_.reset();
  if (!calls_.empty()) connection_refused(endpoint);
}

// A daemon that was killed leaves its host.json. One that lives may refuse for a moment, when very many clients connect
// at once; and it may have been restarted just after we had read where the earlier one listened.
void ClientIo::connection_refused(const Endpoint& endpoint) {
  const auto folder = options_.runtime_folder.empty() ? platform::runtime_folder() : options_.runtime_folder;
  std::optional<std::uint32_t> holder;
  try {
    holder = platform::FileLock::holder(lock_file(folder));
  } catch (const std::exception& error) {
    return drop_connection({ErrorCode::backend_failed, error.what()});
  }
  if (!holder) return drop_connection(not_running());
  if (Clock::now() >= connect_deadline_) return drop_connection(no_answer(endpoint, options_.connect_timeout));
  retry_at_ = Clock::now() + kRetry;
}

void ClientIo::expire() {
  const auto now = Clock::now();
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    const std::shared_ptr<OpenCall> call = calls_.at(deadlines_.begin()->second);
    if (greeted_) connection_->send(encode(Envelope<ClientMessage>{call->id, Cancel{}}));
    finish(call, ErrorMessage{ErrorCode::deadline, call->deadline_sentence});
  }
  if (retry_at_ && *retry_at_ <= now) try_to_connect();
  if (connection_ && !greeted_ && connect_deadline_ <= now) {
    drop_connection(no_answer(connection_->endpoint(), options_.connect_timeout));
  }
}

void ClientIo::finish(const std::shared_ptr<OpenCall>& call, Reply reply) {
  calls_.erase(call->id);
  deadlines_.erase({call->deadline, call->id});
  if (call->callbacks.on_done) {
    Outcome outcome = ErrorMessage{ErrorCode::internal, "The GLM daemon answered with a message of another kind."};
    if (const auto* result = std::get_if<Result>(&reply)) outcome = *result;
    if (const auto* error = std::get_if<ErrorMessage>(&reply)) outcome = *error;
    call->callbacks.on_done(outcome);
  }
  call->callbacks = {};  // what they hold must not live as long as the caller keeps the handle
  {
    const std::lock_guard lock(call->mutex);
    call->reply = std::move(reply);
  }
  call->done.notify_all();
}

void ClientIo::fail_all(const ErrorMessage& error) {
  while (!calls_.empty()) finish(std::shared_ptr(calls_.begin()->second), error);
}

void ClientIo::drop_connection(const ErrorMessage& error) {
  connection_.reset();
  retry_at_.reset();
  greeted_ = false;
  fail_all(error);
}

}  // namespace glmhost::protocol
