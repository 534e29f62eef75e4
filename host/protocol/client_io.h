// The I/O thread behind Client: the open calls, the connection they share, and time running out.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <variant>
#include <vector>
#include <zmq.hpp>

#include "host/protocol/client.h"
#include "host/protocol/daemon_connection.h"
#include "host/protocol/waker.h"

namespace glmhost::protocol {

using Clock = std::chrono::steady_clock;
using Reply = std::variant<Result, ErrorMessage, Status>;

// One request, from start() to its reply. The first part is set before the I/O thread sees it and belongs to that
// thread from then on; the second is shared.
struct OpenCall {
  std::uint64_t id = 0;
  Frames frames;  // emptied when sent
  Client::Callbacks callbacks;
  std::uint32_t credits = 0;
  std::uint32_t deltas_taken = 0;  // since the last credit was given back
  std::string content_seen;        // what on_delta has been given
  std::string reasoning_seen;
  Clock::time_point deadline;
  std::string deadline_sentence;

  std::mutex mutex;
  std::condition_variable done;
  std::optional<Reply> reply;
};

class ClientIo {
 public:
  explicit ClientIo(ClientOptions options);

  const ClientOptions& options() const { return options_; }

  // The thread keeps `self` alive. Once.
  static void run_thread(const std::shared_ptr<ClientIo>& self);

  // From any thread.
  std::shared_ptr<OpenCall> start(const ClientMessage& message, Client::Callbacks callbacks, std::uint32_t credits,
                                  std::chrono::milliseconds timeout, std::string deadline_sentence);
  void cancel(const std::shared_ptr<OpenCall>& call);
  void stop();  // ends all calls as cancelled and waits for the thread, unless it is the caller

 private:
  void run();
  void step();
  void take_commands();
  void adopt(const std::vector<std::shared_ptr<OpenCall>>& started);
  void take_messages();
  void take(Envelope<DaemonMessage> envelope);
  void take_hello();
  void connect();
  void try_to_connect();
  void connection_ended();
  void connection_refused(const Endpoint& endpoint);
  void give_credit(OpenCall& call);
  void give_rest(OpenCall& call, const Result& result);
  std::chrono::milliseconds time_to_wait() const;
  void expire();

  void finish(const std::shared_ptr<OpenCall>& call, Reply reply);
  void fail_all(const ErrorMessage& error);
  void drop_connection(const ErrorMessage& error);  // and fail all

  const ClientOptions options_;
  zmq::context_t context_;
  Waker waker_;
  std::thread thread_;

  std::atomic<std::uint64_t> last_id_{0};
  std::mutex mutex_;
  std::vector<std::shared_ptr<OpenCall>> started_;    // guarded by mutex_
  std::vector<std::shared_ptr<OpenCall>> cancelled_;  // guarded by mutex_
  bool stopping_ = false;                             // guarded by mutex_

  // The rest belongs to the I/O thread.
  std::map<std::uint64_t, std::shared_ptr<OpenCall>> calls_;
  std::set<std::pair<Clock::time_point, std::uint64_t>> deadlines_;
  std::optional<DaemonConnection> connection_;
  std::uint64_t connections_made_ = 0;
  bool greeted_ = false;                       // the daemon has answered our hello
  std::optional<Clock::time_point> retry_at_;  // when to connect again; only while connection_ is empty
  Clock::time_point connect_deadline_;
};

}  // namespace glmhost::protocol
