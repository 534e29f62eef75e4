// A bare DEALER socket, for what Client would never do.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "host/protocol/client.h"
#include "tests/unit/host/protocol/frames.h"

namespace glmhost::test {

class RawClient {
 public:
  explicit RawClient(const protocol::Endpoint& endpoint, const std::string& routing_id = "")
      : socket_(context_, zmq::socket_type::dealer) {
    socket_.set(zmq::sockopt::linger, 0);
    if (!routing_id.empty()) socket_.set(zmq::sockopt::routing_id, routing_id);
    if (!endpoint.server_key.empty()) {
      socket_.set(zmq::sockopt::curve_serverkey, endpoint.server_key);
      socket_.set(zmq::sockopt::curve_publickey, endpoint.client_key);
      socket_.set(zmq::sockopt::curve_secretkey, endpoint.client_secret);
    }
    socket_.connect(endpoint.address);
  }

  void send(const std::vector<std::string>& frames) {
    for (std::size_t i = 0; i < frames.size(); ++i) {
      socket_.send(zmq::buffer(frames[i]), i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
    }
  }
  void send(const protocol::Envelope<protocol::ClientMessage>& envelope) { send(protocol::encode(envelope)); }

  // Nothing after the timeout.
  std::optional<std::vector<std::string>> receive_frames(std::chrono::milliseconds timeout = std::chrono::seconds(20)) {
    socket_.set(zmq::sockopt::rcvtimeo, static_cast<int>(timeout.count()));
    std::vector<std::string> frames;
    for (bool more = true; more;) {
      zmq::message_t frame;
      if (!socket_.recv(frame)) return std::nullopt;
      more = frame.more();
      frames.push_back(frame.to_string());
    }
    return frames;
  }
  std::optional<protocol::Envelope<protocol::DaemonMessage>> receive(
      std::chrono::milliseconds timeout = std::chrono::seconds(20)) {
    const auto frames = receive_frames(timeout);
    if (!frames) return std::nullopt;
    auto decoded = protocol::decode_daemon(views(*frames));
    if (auto* envelope = std::get_if<protocol::Envelope<protocol::DaemonMessage>>(&decoded))
      return std::move(*envelope);
    return std::nullopt;
  }

  zmq::socket_t& socket() { return socket_; }

 private:
  zmq::context_t context_;
  zmq::socket_t socket_;
};

}  // namespace glmhost::test
