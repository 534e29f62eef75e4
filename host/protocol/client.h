// A client's connection to the daemon.
//
// Thread rules: every member may be called from several threads at once; several requests may be open at once. One I/O
// thread owns the socket; callbacks run on it, must return quickly, must not throw and must not wait for a Call. The
// destructor cancels what is open: each open request still gets its on_done, none begins any more. A callback may start
// and cancel requests, and may destroy the Client. The connection is made on first use and made again when the daemon
// went away: requests open at that moment end with Error(backend_failed), later ones go to the new daemon.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "host/protocol/messages.h"

namespace glmhost::protocol {

// Where the daemon listens, as written in host.json in the runtime folder.
struct Endpoint {
  std::string address;  // ipc://... or tcp://127.0.0.1:port
  std::uint32_t pid = 0;
  std::uint32_t protocol_version = 0;
  std::string version;
  std::string server_key;     // CURVE public key (Z85); empty for ipc
  std::string client_key;     // CURVE key pair (Z85) that the daemon lets in; empty for ipc. Secret: whoever
  std::string client_secret;  // knows it may connect, so it lives in host.json only (mode 0600)
};

// Nothing when there is no host.json; throws std::runtime_error with a sentence when it is unreadable, damaged, or
// belongs to another user.
std::optional<Endpoint> read_endpoint(const std::filesystem::path& runtime_folder);
void write_endpoint(const std::filesystem::path& runtime_folder, const Endpoint& endpoint);  // atomic, mode 0600
void remove_endpoint(const std::filesystem::path& runtime_folder);

// <runtime folder>/daemon.lock: held by the daemon as long as it lives.
std::filesystem::path lock_file(const std::filesystem::path& runtime_folder);

struct ClientOptions {
  std::string program = "client";        // shown in the daemon's log
  std::filesystem::path runtime_folder;  // empty: platform::runtime_folder()
  std::chrono::milliseconds connect_timeout{3000};
  std::chrono::milliseconds deadline_grace{2000};  // how long past its deadline a request waits for the daemon's word
};

using Outcome = std::variant<Result, ErrorMessage>;

// Any of them may be left out.
struct RequestCallbacks {
  std::function<void(const Accepted&)> on_accepted = nullptr;
  // Joined, the deltas are the result's text: what was not streamed before the end (no credit, or the answer was in the
  // memo store) comes as one last delta. None at all for a request with 0 credits.
  std::function<void(const Delta&)> on_delta = nullptr;
  std::function<void(const Outcome&)> on_done = nullptr;  // once, whatever happens
};

class Client {
 public:
  explicit Client(ClientOptions options = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // An open request. Destroying the handle does not cancel it. A handle that start() did not make may only be assigned
  // to.
  class Call {
   public:
    void cancel();   // at once, from any thread; the outcome becomes ErrorMessage(cancelled) unless it was done
    Outcome wait();  // blocks until result or error
    std::optional<Outcome> wait_for(std::chrono::milliseconds timeout);

   private:
    friend class Client;
    struct State;
    std::shared_ptr<State> state_;
  };

  using Callbacks = RequestCallbacks;

  Call start(const Request& request, Callbacks callbacks = {});
  Call start(const TableRequest& request, Callbacks callbacks = {});

  // Blocking calls; a daemon that is not there, does not answer in time or speaks another protocol version is an
  // ErrorMessage that says what to do.
  std::variant<Status, ErrorMessage> status(std::chrono::milliseconds timeout = std::chrono::seconds(3));
  Outcome control(const Control& control, std::chrono::milliseconds timeout);

 private:
  struct State;
  Call start(const ClientMessage& message, Callbacks callbacks, std::uint32_t credits, std::uint32_t deadline_ms);
  std::shared_ptr<State> state_;
};

}  // namespace glmhost::protocol
