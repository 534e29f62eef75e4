#include "host/protocol/daemon_connection.h"

#include "host/platform/process.h"
#include "host/protocol/address.h"
#include "host/protocol/timing.h"

namespace glmhost::protocol {
namespace {

constexpr int kEndOfConnection = ZMQ_EVENT_CLOSED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                                 ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;

}  // namespace

zmq::socket_t DaemonConnection::make_socket(zmq::context_t& context, const Endpoint& endpoint) {
  zmq::socket_t socket(context, zmq::socket_type::dealer);
  socket.set(zmq::sockopt::linger, 0);
  socket.set(zmq::sockopt::reconnect_ivl, -1);
  socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(kMaxBodyBytes));
  socket.set(zmq::sockopt::sndhwm, 0);  // bounded by the requests that this program opens
  socket.set(zmq::sockopt::handshake_ivl, kHandshake);
  set_heartbeats(socket);
  if (is_tcp(endpoint.address)) {
    socket.set(zmq::sockopt::curve_serverkey, endpoint.server_key);
    socket.set(zmq::sockopt::curve_publickey, endpoint.client_key);
    socket.set(zmq::sockopt::curve_secretkey, endpoint.client_secret);
    socket.set(zmq::sockopt::ipv6, endpoint.address.find('[') != std::string::npos);
  }
  return socket;
}

DaemonConnection::DaemonConnection(zmq::context_t& context, Endpoint endpoint, const std::string& program,
                                   std::uint64_t serial)
    : endpoint_(std::move(endpoint)),
      socket_(make_socket(context, endpoint_)),
      monitor_(context, socket_, "client-monitor-" + std::to_string(serial), kEndOfConnection) {
  socket_.connect(endpoint_.address);
  const Hello hello{kProtocolVersion, program, GLMHOST_VERSION, platform::process_id()};
  send(encode(Envelope<ClientMessage>{0, hello}));
}

void DaemonConnection::add_poll_items(std::vector<zmq::pollitem_t>& items) {
  items.push_back({socket_.handle(), 0, ZMQ_POLLIN, 0});
  items.push_back({monitor_.socket().handle(), 0, ZMQ_POLLIN, 0});
}

void DaemonConnection::look_around() {
  monitor_.drain([this](std::uint16_t, std::int32_t) { lost_ = true; });
}

std::optional<std::variant<Envelope<DaemonMessage>, DecodeError>> DaemonConnection::receive() {
  std::vector<zmq::message_t> frames;
  for (bool more = true; more;) {
    zmq::message_t frame;
    if (!socket_.recv(frame, zmq::recv_flags::dontwait)) return std::nullopt;
    more = frame.more();
    frames.push_back(std::move(frame));
  }
  std::vector<std::string_view> views;
  for (const zmq::message_t& frame : frames) views.push_back(frame.to_string_view());
  return decode_daemon(views);
}

void DaemonConnection::send(const Frames& frames) {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const int more = i + 1 < frames.size() ? ZMQ_SNDMORE : 0;
    if (zmq_send(socket_.handle(), frames[i].data(), frames[i].size(), more | ZMQ_DONTWAIT) < 0) return;
  }
}

}  // namespace glmhost::protocol
