#include "host/protocol/connection_monitor.h"

#include <cstring>

namespace glmhost::protocol {

ConnectionMonitor::ConnectionMonitor(zmq::context_t& context, zmq::socket_t& socket, const std::string& name,
                                     int events)
    : socket_(socket), receiver_(context, zmq::socket_type::pair) {
  const std::string address = "inproc://" + name;
  receiver_.set(zmq::sockopt::linger, 0);
  // No limit: at a limit the library's I/O thread would wait for us to read, and all connections with it.
  receiver_.set(zmq::sockopt::rcvhwm, 0);
  if (zmq_socket_monitor(socket.handle(), address.c_str(), events) != 0) throw zmq::error_t();
  receiver_.connect(address);
}

ConnectionMonitor::~ConnectionMonitor() {
  zmq_socket_monitor(socket_.handle(), nullptr, 0);
}

void ConnectionMonitor::drain(const std::function<void(std::uint16_t event, std::int32_t value)>& handle) {
  zmq::message_t head;
  zmq::message_t address;
  while (receiver_.recv(head, zmq::recv_flags::dontwait)) {
    if (head.more() && !receiver_.recv(address, zmq::recv_flags::none)) return;
    std::uint16_t event = 0;
    std::int32_t value = 0;
    if (head.size() != sizeof(event) + sizeof(value)) continue;
    std::memcpy(&event, head.data(), sizeof(event));
    std::memcpy(&value, static_cast<const char*>(head.data()) + sizeof(event), sizeof(value));
    handle(event, value);
  }
}

}  // namespace glmhost::protocol
