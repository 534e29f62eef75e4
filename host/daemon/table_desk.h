// Runs table pipelines over range segments, one after the other, on a thread of its own: they need no model, and no
// answer of a model waits for them.
//
// Thread rules: every member from any thread. `send` is called from the desk's thread and must not call back.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "host/protocol/messages.h"
#include "host/protocol/server_socket.h"

namespace glmhost::daemon {

class TableDesk {
 public:
  using PeerId = protocol::PeerId;
  using Clock = std::chrono::steady_clock;
  using Send = std::function<void(PeerId peer, std::uint64_t id, protocol::DaemonMessage message)>;

  TableDesk(unsigned threads, Send send);
  ~TableDesk();  // cancels what is open, without a word
  TableDesk(const TableDesk&) = delete;
  TableDesk& operator=(const TableDesk&) = delete;

  void open(PeerId peer, std::uint64_t id, protocol::TableRequest request);
  void cancel(PeerId peer, std::uint64_t id);  // unknown ones are ignored
  void forget_peer(PeerId peer);
  void cancel_all(const protocol::ErrorMessage& why);  // each is told
  void expire(Clock::time_point now);
  std::optional<Clock::time_point> next_deadline() const;
  bool nothing_open() const;

 private:
  struct Job {
    PeerId peer = 0;
    std::uint64_t id = 0;
    protocol::TableRequest request;
    Clock::time_point deadline;
    std::atomic<bool> cancelled = false;
  };

  void run();
  protocol::DaemonMessage answer(const Job& job) const;
  template <class Which>
  void end_those(const Which& which, const std::optional<protocol::ErrorMessage>& why);

  const unsigned threads_;
  const Send send_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Job>> jobs_;  // the first is running
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace glmhost::daemon
