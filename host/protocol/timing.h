// What both ends of a connection agree on.
#pragma once

#include <cerrno>
#include <chrono>
#include <string>
#include <vector>
#include <zmq.hpp>

namespace glmhost::protocol {

inline constexpr int kHandshake = 5000;  // ms; a connection that has not introduced itself by then is closed

// Ended processes close their connections, which is seen at once. Heartbeats are for those that hang or are stopped,
// and patient enough for a machine whose every core computes.
inline void set_heartbeats(zmq::socket_t& socket) {
  socket.set(zmq::sockopt::heartbeat_ivl, 3000);
  socket.set(zmq::sockopt::heartbeat_timeout, 10'000);
  socket.set(zmq::sockopt::heartbeat_ttl, 10'000);
}

// "3 s", "250 ms"
inline std::string duration_text(std::chrono::milliseconds duration) {
  const auto count = duration.count();
  return count % 1000 == 0 ? std::to_string(count / 1000) + " s" : std::to_string(count) + " ms";
}

// zmq::poll(), but a signal that interrupts it is no error: the caller looks around and polls again.
inline void poll_sockets(std::vector<zmq::pollitem_t>& items, std::chrono::milliseconds timeout) {
  if (zmq_poll(items.data(), static_cast<int>(items.size()), static_cast<long>(timeout.count())) < 0 &&
      zmq_errno() != EINTR) {
    throw zmq::error_t();
  }
}

}  // namespace glmhost::protocol
