#include "host/protocol/server_socket.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>
#include <zmq.hpp>

#include "host/platform/paths.h"
#include "host/platform/process.h"
#include "host/protocol/address.h"
#include "host/protocol/authenticator.h"
#include "host/protocol/connection_monitor.h"
#include "host/protocol/decode.h"
#include "host/protocol/timing.h"
#include "host/protocol/utf8.h"
#include "host/protocol/waker.h"

namespace glmhost::protocol {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostMessagesAtOnce = 256;
constexpr int kMostWaitingForReader = 50'000;  // messages; credits keep honest clients far below
constexpr int kMostWaitingForUs = 64;          // messages of one connection, each of up to kMaxBodyBytes
constexpr int kMostConnecting = 4096;          // not yet accepted; the system allows no more
constexpr int kTimeToLeave = 5000;             // ms for the last messages; over as soon as all have left
constexpr std::size_t kMostFrames = 4;         // kept of one message; one more than any may have

Endpoint make_endpoint(const ServerOptions& options, const std::filesystem::path& folder) {
  Endpoint endpoint;
  endpoint.address = options.address;
  if (endpoint.address.empty()) endpoint.address = zmq_has("ipc") != 0 ? "ipc" : "tcp://127.0.0.1:0";
  if (endpoint.address == "ipc") endpoint.address = "ipc://" + platform::to_utf8(folder / "daemon.sock");
  if (auto error = check_address(endpoint.address)) throw std::runtime_error(*error);
  if (!is_utf8(endpoint.address)) {
    throw std::runtime_error("The name of the folder " + platform::to_utf8(folder) +
                             " is not valid UTF-8. Set GLM_HOST_HOME to a folder whose name is.");
  }
  endpoint.pid = platform::process_id();
  endpoint.protocol_version = kProtocolVersion;
  endpoint.version = options.version.empty() ? GLMHOST_VERSION : options.version;
  return endpoint;
}

std::filesystem::path socket_file(const std::string& ipc_address) {
  return platform::path_from_utf8(std::string_view(ipc_address).substr(std::string_view("ipc://").size()));
}

// A daemon that was killed leaves its socket file. The caller holds the lock, so nobody listens on it.
void remove_stale_socket(const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(file, error);
  if (!std::filesystem::exists(status)) return;
  if (!std::filesystem::is_socket(status)) {
    throw std::runtime_error(platform::to_utf8(file) + " is in the way: it is not a socket. Remove it.");
  }
  std::filesystem::remove(file, error);
}

}  // namespace

struct ServerSocket::State {
  struct Peer {
    PeerId id = 0;
    int connection = -1;  // file descriptor
    bool closed = false;
  };

  State(const ServerOptions& options)
      : folder(options.runtime_folder.empty() ? platform::runtime_folder() : options.runtime_folder),
        endpoint(make_endpoint(options, folder)),
        router(context, zmq::socket_type::router),
        waker(context),
        monitor(context, router, "server-monitor", ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED) {}

  void configure();
  void bind();
  bool receive(std::vector<ServerEvent>& events);
  void handle(const std::string& route, std::span<const zmq::message_t> frames, std::vector<ServerEvent>& events);
  void greet(const std::string& route, int connection, Envelope<Hello> hello, std::vector<ServerEvent>& events);
  void watch_connections();
  void forget_closed(std::vector<ServerEvent>& events);
  bool send(const std::string& route, const Envelope<DaemonMessage>& envelope);
  void refuse(const std::string& route, DecodeError error, std::vector<ServerEvent>& events);

  std::filesystem::path folder;
  Endpoint endpoint;
  zmq::context_t context;
  std::optional<Authenticator> authenticator;
  zmq::socket_t router;
  Waker waker;
  ConnectionMonitor monitor;

  PeerId last_peer = 0;
  std::unordered_map<std::string, Peer> peers;     // by the router's name for the connection
  std::unordered_map<PeerId, std::string> routes;  // the other way round
  std::unordered_set<int> closed_connections;      // descriptors whose connection ended, until they are used again
  bool any_closed = false;
  std::vector<ServerEvent> waiting;  // noticed outside poll()
};

void ServerSocket::State::configure() {
  router.set(zmq::sockopt::linger, kTimeToLeave);
  router.set(zmq::sockopt::router_mandatory, true);
  router.set(zmq::sockopt::router_handover, true);
  router.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(kMaxBodyBytes));
  router.set(zmq::sockopt::sndhwm, kMostWaitingForReader);
  router.set(zmq::sockopt::rcvhwm, kMostWaitingForUs);
  router.set(zmq::sockopt::backlog, kMostConnecting);
  router.set(zmq::sockopt::handshake_ivl, kHandshake);
  set_heartbeats(router);
  if (is_ipc(endpoint.address)) {
    // The folder keeps others out; this does too should somebody open the folder.
    if (const auto user = platform::user_id()) {
      if (zmq_setsockopt(router.handle(), ZMQ_IPC_FILTER_UID, &*user, sizeof(*user)) != 0) throw zmq::error_t();
    }
    return;
  }
  const KeyPair server = make_key_pair();
  const KeyPair client = make_key_pair();
  endpoint.server_key = server.public_key;
  endpoint.client_key = client.public_key;
  endpoint.client_secret = client.secret_key;
  authenticator.emplace(context, client.public_key);
  router.set(zmq::sockopt::zap_domain, "glm-host");
  router.set(zmq::sockopt::curve_server, true);
  router.set(zmq::sockopt::curve_secretkey, server.secret_key);
  router.set(zmq::sockopt::ipv6, endpoint.address.find('[') != std::string::npos);
}

void ServerSocket::State::bind() {
  if (is_tcp(endpoint.address)) {
    router.bind(endpoint.address);
    endpoint.address = router.get(zmq::sockopt::last_endpoint);
    return;
  }
  const std::filesystem::path socket = socket_file(endpoint.address);
  remove_stale_socket(socket);
  router.bind(endpoint.address);
  std::filesystem::permissions(socket, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

ServerSocket::ServerSocket(const ServerOptions& options, const platform::FileLock&)
    : state_(std::make_unique<State>(options)) {
  platform::make_private_folder(state_->folder);
  try {
    state_->configure();
    state_->bind();
  } catch (const zmq::error_t& error) {
    throw std::runtime_error("The daemon cannot listen on " + state_->endpoint.address + ": " + error.what() + ".");
  }
  write_endpoint(state_->folder, state_->endpoint);
}

ServerSocket::~ServerSocket() {
  // In this order: whoever still finds host.json finds somebody listening.
  remove_endpoint(state_->folder);
  if (is_ipc(state_->endpoint.address)) {
    std::error_code already_gone;
    std::filesystem::remove(socket_file(state_->endpoint.address), already_gone);
  }
}

const Endpoint& ServerSocket::endpoint() const {
  return state_->endpoint;
}

void ServerSocket::wake() {
  state_->waker.wake();
}

std::vector<ServerEvent> ServerSocket::poll(std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  std::vector<ServerEvent> events = std::exchange(state_->waiting, {});
  for (;;) {
    std::vector<zmq::pollitem_t> items = {
        {state_->router.handle(), 0, ZMQ_POLLIN, 0},
        {state_->monitor.socket().handle(), 0, ZMQ_POLLIN, 0},
        {state_->waker.socket().handle(), 0, ZMQ_POLLIN, 0},
    };
    if (state_->authenticator) items.push_back({state_->authenticator->socket().handle(), 0, ZMQ_POLLIN, 0});
    auto wait = std::chrono::milliseconds(-1);
    if (!events.empty()) {
      wait = std::chrono::milliseconds(0);
    } else if (timeout.count() >= 0) {
      wait =
          std::max(std::chrono::milliseconds(0), std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()));
    }
    poll_sockets(items, wait);

    const bool woken = state_->waker.clear();
    if (state_->authenticator) state_->authenticator->answer();
    // A connection's end is seen before its last messages are read, but they were sent before: read them first.
    state_->watch_connections();
    if (state_->receive(events)) state_->forget_closed(events);
    if (!events.empty() || woken || (timeout.count() >= 0 && Clock::now() >= deadline)) return events;
  }
}

// True when nothing is left to receive.
bool ServerSocket::State::receive(std::vector<ServerEvent>& events) {
  for (std::size_t count = 0; count < kMostMessagesAtOnce; ++count) {
    zmq::message_t frame;
    if (!router.recv(frame, zmq::recv_flags::dontwait)) return true;
    const std::string route = frame.to_string();
    std::vector<zmq::message_t> frames;
    for (bool more = frame.more(); more;) {
      zmq::message_t part;
      if (!router.recv(part)) break;
      more = part.more();
      if (frames.size() < kMostFrames) frames.push_back(std::move(part));
    }
    handle(route, frames, events);
  }
  return false;
}

void ServerSocket::State::handle(const std::string& route, std::span<const zmq::message_t> frames,
                                 std::vector<ServerEvent>& events) {
  std::vector<std::string_view> views;
  for (const zmq::message_t& frame : frames) views.push_back(frame.to_string_view());
  auto decoded = decode_client(views);
  if (auto* error = std::get_if<DecodeError>(&decoded)) return refuse(route, std::move(*error), events);

  auto& envelope = std::get<Envelope<ClientMessage>>(decoded);
  if (const auto* hello = std::get_if<Hello>(&envelope.message)) {
    // The only way to learn which connection a message came by; set by the library for every transport with one.
    const int connection = zmq_msg_get(frames.front().handle(), ZMQ_SRCFD);
    return greet(route, connection, {envelope.id, *hello}, events);
  }
  const auto peer = peers.find(route);
  if (peer == peers.end()) {
    return refuse(route, bad_message(envelope.id, "The first message of a connection must be hello."), events);
  }
  if (std::holds_alternative<Ping>(envelope.message)) {
    send(route, {envelope.id, Ping{}});
    return;
  }
  events.push_back(Incoming{peer->second.id, std::move(envelope)});
}

void ServerSocket::State::greet(const std::string& route, int connection, Envelope<Hello> hello,
                                std::vector<ServerEvent>& events) {
  if (hello.message.protocol_version != kProtocolVersion) {
    return refuse(route, bad_message(hello.id, version_mismatch("client", hello.message.protocol_version, "daemon")),
                  events);
  }
  // Descriptors are used again at once. What happened to earlier connections with this one has been announced before
  // this message came, so it must be looked at before the peer is noted under it.
  watch_connections();
  const Hello answer{kProtocolVersion, "glm-daemon", endpoint.version, endpoint.pid};
  const bool reached = send(route, {hello.id, answer});
  if (!reached || closed_connections.contains(connection)) return;
  if (const auto known = peers.find(route); known != peers.end()) {
    if (known->second.connection == connection && !known->second.closed) return;
    // A client that names itself to the router has come back by another connection before the end of its earlier one
    // was dealt with. What it had asked for is gone with that one.
    events.push_back(PeerGone{known->second.id});
    routes.erase(known->second.id);
  }
  const PeerId id = ++last_peer;
  peers[route] = {id, connection};
  routes[id] = route;
  events.push_back(Incoming{id, {hello.id, std::move(hello.message)}});
}

void ServerSocket::State::refuse(const std::string& route, DecodeError error, std::vector<ServerEvent>& events) {
  send(route, {error.id, error.error});
  const auto peer = peers.find(route);
  events.push_back(Malformed{peer == peers.end() ? 0 : peer->second.id, std::move(error)});
}

void ServerSocket::State::watch_connections() {
  monitor.drain([this](std::uint16_t event, std::int32_t connection) {
    if (event == ZMQ_EVENT_ACCEPTED) {
      closed_connections.erase(connection);
      return;
    }
    closed_connections.insert(connection);
    for (auto& [route, peer] : peers) {
      if (peer.connection == connection) peer.closed = any_closed = true;
    }
  });
}

void ServerSocket::State::forget_closed(std::vector<ServerEvent>& events) {
  if (!std::exchange(any_closed, false)) return;
  for (auto peer = peers.begin(); peer != peers.end();) {
    if (!peer->second.closed) {
      ++peer;
      continue;
    }
    events.push_back(PeerGone{peer->second.id});
    routes.erase(peer->second.id);
    peer = peers.erase(peer);
  }
}

bool ServerSocket::State::send(const std::string& route, const Envelope<DaemonMessage>& envelope) {
  const Frames frames = encode(envelope);
  if (zmq_send(router.handle(), route.data(), route.size(), ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0) return false;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const int more = i + 1 < frames.size() ? ZMQ_SNDMORE : 0;
    if (zmq_send(router.handle(), frames[i].data(), frames[i].size(), more | ZMQ_DONTWAIT) < 0) return false;
  }
  return true;
}

bool ServerSocket::send(PeerId peer, const Envelope<DaemonMessage>& envelope) {
  const auto route = state_->routes.find(peer);
  if (route == state_->routes.end()) return false;
  if (state_->send(route->second, envelope)) return true;
  state_->waiting.push_back(PeerGone{peer});
  state_->peers.erase(route->second);
  state_->routes.erase(route);
  return false;
}

}  // namespace glmhost::protocol
