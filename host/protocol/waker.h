// Gets a thread out of zmq::poll() from any other thread.
#pragma once

#include <atomic>
#include <mutex>
#include <zmq.hpp>

namespace glmhost::protocol {

class Waker {
 public:
  explicit Waker(zmq::context_t& context);

  void wake();  // from any thread; never blocks

  // For the polling thread: poll socket() for input, then clear(), then look at what the others left. True when woken.
  zmq::socket_ref socket() { return receiver_; }
  bool clear();

 private:
  zmq::socket_t receiver_;
  std::mutex mutex_;                // a socket may be used by several threads, one after the other
  zmq::socket_t sender_;            // guarded by mutex_
  std::atomic<bool> woken_{false};  // one message in flight says enough
};

}  // namespace glmhost::protocol
