// The I/O thread: brings clients' messages to the core and the core's messages to clients, keeps time, and ends the
// daemon.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/daemon/core.h"
#include "host/daemon/table_desk.h"
#include "host/platform/file_lock.h"
#include "host/protocol/server_socket.h"

namespace glmhost::daemon {

class Sessions {
 public:
  struct Options {
    protocol::ServerOptions server;
    std::chrono::milliseconds grace{5000};
    std::uint32_t threads = 1;  // of the engine, for the status
  };

  Sessions(Core& core, Options options);

  // Listens, fulfils `listening` or gives it the failure, and serves until the daemon has stopped. The thread that runs
  // it owns the socket.
  void run(const platform::FileLock& lock, std::promise<void> listening);

  void wake();  // from any thread
  void stop();  // from any thread: the first lets running requests finish within the grace, the next cancels them
  const protocol::Endpoint& endpoint() const { return endpoint_; }  // once `listening` is fulfilled

 private:
  void serve();
  std::chrono::milliseconds time_to_wait() const;
  void handle(protocol::ServerEvent& event);
  void handle(protocol::PeerId peer, std::uint64_t id, protocol::ClientMessage& message);
  void control(protocol::PeerId peer, std::uint64_t id, const protocol::Control& control);
  void tell_status(protocol::PeerId peer, std::uint64_t id);
  std::string shown(protocol::PeerId peer) const;  // for the log
  void go_on_stopping();
  void send_all();

  Core& core_;
  const Options options_;
  protocol::Endpoint endpoint_;
  const Clock::time_point started_ = Clock::now();

  std::mutex socket_mutex_;  // over the pointer alone: wake() may come before and after the socket's life
  std::unique_ptr<protocol::ServerSocket> socket_;

  std::atomic<int> stops_{0};
  bool stopping_ = false;
  bool cancelled_ = false;
  Clock::time_point cancel_at_{};
  std::vector<SubscriberKey> stop_requests_;  // answered when everything has ended
  std::unordered_map<protocol::PeerId, std::string> programs_;
  TableDesk tables_;  // takes the core's lock under its own: it is never called with the core's lock held
};

}  // namespace glmhost::daemon
