// What happens to a socket's connections, beside its messages.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <zmq.hpp>

namespace glmhost::protocol {

class ConnectionMonitor {
 public:
  // `events` is a set of ZMQ_EVENT_ bits; `name` tells monitors of one context apart. The socket must outlive this.
  ConnectionMonitor(zmq::context_t& context, zmq::socket_t& socket, const std::string& name, int events);
  ~ConnectionMonitor();
  ConnectionMonitor(const ConnectionMonitor&) = delete;
  ConnectionMonitor& operator=(const ConnectionMonitor&) = delete;

  zmq::socket_ref socket() { return receiver_; }

  // Calls `handle` with each waiting event and its value: the file descriptor of the connection, or an error number.
  void drain(const std::function<void(std::uint16_t event, std::int32_t value)>& handle);

 private:
  zmq::socket_t& socket_;
  zmq::socket_t receiver_;
};

}  // namespace glmhost::protocol
