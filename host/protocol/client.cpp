#include "host/protocol/client.h"

#include <mutex>

#include "host/protocol/client_io.h"
#include "host/protocol/timing.h"

namespace glmhost::protocol {
namespace {

Reply wait_for_reply(OpenCall& call) {
  std::unique_lock lock(call.mutex);
  call.done.wait(lock, [&] { return call.reply.has_value(); });
  return *call.reply;
}

Outcome to_outcome(const Reply& reply) {
  if (const auto* result = std::get_if<Result>(&reply)) return *result;
  if (const auto* error = std::get_if<ErrorMessage>(&reply)) return *error;
  return ErrorMessage{ErrorCode::internal, "The GLM daemon answered a request with its status."};
}

std::string no_answer(std::chrono::milliseconds timeout) {
  return "The GLM daemon did not answer within " + duration_text(timeout) + ". It may be busy; try again.";
}

}  // namespace

struct Client::State {
  explicit State(ClientOptions options) : io(std::make_shared<ClientIo>(std::move(options))) {}

  ClientIo& running() {
    std::call_once(once, [this] {
      ClientIo::run_thread(io);
      has_thread = true;
    });
    return *io;
  }

  std::shared_ptr<ClientIo> io;
  std::once_flag once;
  bool has_thread = false;
};

struct Client::Call::State {
  std::shared_ptr<OpenCall> call;
  std::weak_ptr<ClientIo> io;
};

Client::Client(ClientOptions options) : state_(std::make_shared<State>(std::move(options))) {}

Client::~Client() {
  if (state_->has_thread) state_->io->stop();
}

Client::Call Client::start(const ClientMessage& message, Callbacks callbacks, std::uint32_t credits,
                           std::uint32_t deadline_ms) {
  const std::chrono::milliseconds deadline(deadline_ms);
  Call handle;
  handle.state_ = std::make_shared<Call::State>();
  handle.state_->io = state_->io;
  handle.state_->call =
      state_->running().start(message, std::move(callbacks), credits, deadline + state_->io->options().deadline_grace,
                              "The answer did not come within the deadline of " + duration_text(deadline) +
                                  ". Allow more time or ask for less.");
  return handle;
}

Client::Call Client::start(const Request& request, Callbacks callbacks) {
  return start(ClientMessage(request), std::move(callbacks), request.credits, request.deadline_ms);
}

Client::Call Client::start(const TableRequest& request, Callbacks callbacks) {
  return start(ClientMessage(request), std::move(callbacks), 0, request.deadline_ms);
}

std::variant<Status, ErrorMessage> Client::status(std::chrono::milliseconds timeout) {
  const Reply reply = wait_for_reply(*state_->running().start(StatusRequest{}, {}, 0, timeout, no_answer(timeout)));
  if (const auto* status = std::get_if<Status>(&reply)) return *status;
  if (const auto* error = std::get_if<ErrorMessage>(&reply)) return *error;
  return ErrorMessage{ErrorCode::internal, "The GLM daemon answered a question for its status with something else."};
}

Outcome Client::control(const Control& control, std::chrono::milliseconds timeout) {
  return to_outcome(wait_for_reply(*state_->running().start(control, {}, 0, timeout, no_answer(timeout))));
}

void Client::Call::cancel() {
  if (!state_) return;
  if (const auto io = state_->io.lock()) io->cancel(state_->call);
}

Outcome Client::Call::wait() {
  return to_outcome(wait_for_reply(*state_->call));
}

std::optional<Outcome> Client::Call::wait_for(std::chrono::milliseconds timeout) {
  std::unique_lock lock(state_->call->mutex);
  if (!state_->call->done.wait_for(lock, timeout, [&] { return state_->call->reply.has_value(); })) return std::nullopt;
  return to_outcome(*state_->call->reply);
}

}  // namespace glmhost::protocol
