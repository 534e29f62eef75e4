// Who may connect over tcp: the holder of one key pair (ZeroMQ's authentication protocol, RFC 27, inside the process).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <zmq.hpp>

namespace glmhost::protocol {

struct KeyPair {
  std::string public_key;  // Z85
  std::string secret_key;
};
KeyPair make_key_pair();  // throws zmq::error_t when the library was built without CURVE

class Authenticator {
 public:
  // Must be made before a server socket of this context binds.
  Authenticator(zmq::context_t& context, const std::string& allowed_client_key);

  // Poll socket() for input, then answer(). Handshakes wait meanwhile.
  zmq::socket_ref socket() { return handler_; }
  void answer();

 private:
  using Key = std::array<std::uint8_t, 32>;

  Key allowed_{};
  zmq::socket_t handler_;
};

}  // namespace glmhost::protocol
