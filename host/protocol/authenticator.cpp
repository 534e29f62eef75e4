#include "host/protocol/authenticator.h"

#include <cstring>
#include <vector>

namespace glmhost::protocol {
namespace {

// version, request id, domain, address, identity, mechanism, credentials
constexpr std::size_t kRequestFrames = 7;

}  // namespace

KeyPair make_key_pair() {
  std::array<char, 41> public_key{};
  std::array<char, 41> secret_key{};
  if (zmq_curve_keypair(public_key.data(), secret_key.data()) != 0) throw zmq::error_t();
  return {public_key.data(), secret_key.data()};
}

Authenticator::Authenticator(zmq::context_t& context, const std::string& allowed_client_key)
    : handler_(context, zmq::socket_type::rep) {
  if (zmq_z85_decode(allowed_.data(), allowed_client_key.c_str()) == nullptr) throw zmq::error_t();
  handler_.set(zmq::sockopt::linger, 0);
  handler_.bind("inproc://zeromq.zap.01");
}

void Authenticator::answer() {
  for (;;) {
    std::vector<zmq::message_t> frames;
    zmq::message_t frame;
    if (!handler_.recv(frame, zmq::recv_flags::dontwait)) return;
    bool more = frame.more();
    frames.push_back(std::move(frame));
    while (more && handler_.recv(frame)) {
      more = frame.more();
      frames.push_back(std::move(frame));
    }
    const bool allowed = frames.size() == kRequestFrames && frames[5].to_string_view() == "CURVE" &&
                         frames[6].size() == allowed_.size() &&
                         std::memcmp(frames[6].data(), allowed_.data(), allowed_.size()) == 0;
    const std::string request_id = frames.size() > 1 ? frames[1].to_string() : "";
    handler_.send(zmq::buffer("1.0", 3), zmq::send_flags::sndmore);
    handler_.send(zmq::buffer(request_id), zmq::send_flags::sndmore);
    handler_.send(zmq::buffer(allowed ? "200" : "400", 3), zmq::send_flags::sndmore);
    handler_.send(zmq::message_t(), zmq::send_flags::sndmore);  // no text, user id or metadata
    handler_.send(zmq::message_t(), zmq::send_flags::sndmore);
    handler_.send(zmq::message_t(), zmq::send_flags::none);
  }
}

}  // namespace glmhost::protocol
