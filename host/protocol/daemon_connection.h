// One connection from a client to the daemon. It is made once and never again: whoever owns it makes a new one, from
// what host.json says then.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>
#include <zmq.hpp>

#include "host/protocol/client.h"
#include "host/protocol/connection_monitor.h"
#include "host/protocol/messages.h"

namespace glmhost::protocol {

class DaemonConnection {
 public:
  // Begins to connect and says hello under request id 0. `serial` is never used twice in one context. Throws
  // zmq::error_t.
  DaemonConnection(zmq::context_t& context, Endpoint endpoint, const std::string& program, std::uint64_t serial);

  const Endpoint& endpoint() const { return endpoint_; }

  // Poll these for input; then look_around() first and receive() until nothing comes, since the last messages of a
  // connection are read after its end is known.
  void add_poll_items(std::vector<zmq::pollitem_t>& items);
  void look_around();
  std::optional<std::variant<Envelope<DaemonMessage>, DecodeError>> receive();
  bool is_lost() const { return lost_; }

  // Never blocks; what cannot be sent is reported by is_lost() sooner or later.
  void send(const Frames& frames);

 private:
  static zmq::socket_t make_socket(zmq::context_t& context, const Endpoint& endpoint);

  Endpoint endpoint_;
  zmq::socket_t socket_;
  ConnectionMonitor monitor_;
  bool lost_ = false;
};

}  // namespace glmhost::protocol
