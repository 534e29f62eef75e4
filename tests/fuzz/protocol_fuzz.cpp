// Both decoders on any bytes. What is accepted must come out of the encoder and be accepted again, equal.
//
// The input: one byte that says which side decodes, then frames, each with its length in two bytes before it (the last
// one takes what is left). So that the mutations reach the body, an input may also be a body alone, under a kind and
// the right frames before it.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "host/protocol/messages.h"

namespace {

using namespace glmhost::protocol;

std::vector<std::string_view> split(std::string_view bytes) {
  std::vector<std::string_view> frames;
  while (bytes.size() >= 2) {
    const std::size_t size = static_cast<unsigned char>(bytes[0]) | static_cast<unsigned char>(bytes[1]) << 8;
    bytes.remove_prefix(2);
    frames.push_back(bytes.substr(0, size));
    bytes.remove_prefix(std::min(size, bytes.size()));
  }
  return frames;
}

template <class Message>
void check(const std::variant<Envelope<Message>, DecodeError>& decoded,
           std::variant<Envelope<Message>, DecodeError> (*decode)(std::span<const std::string_view>)) {
  if (const auto* error = std::get_if<DecodeError>(&decoded)) {
    if (error->error.sentence.empty() || error->error.sentence.back() != '.') std::abort();
    return;
  }
  const Frames frames = encode(std::get<Envelope<Message>>(decoded));
  const std::vector<std::string_view> views(frames.begin(), frames.end());
  const auto again = decode(views);
  if (!std::holds_alternative<Envelope<Message>>(again)) std::abort();
  // Compared as bytes: a not-a-number inside a conversation equals nothing, itself included.
  if (encode(std::get<Envelope<Message>>(again)) != frames) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::uint8_t mode = data[0];
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::vector<std::string_view> frames;
  const std::string head = {static_cast<char>(kProtocolVersion), rest[0]};
  if ((mode & 2) != 0) {
    frames = split(rest);
  } else {
    frames = {head, "12345678", rest.substr(1)};
  }
  if ((mode & 1) != 0) {
    check<DaemonMessage>(decode_daemon(frames), decode_daemon);
  } else {
    check<ClientMessage>(decode_client(frames), decode_client);
  }
  return 0;
}
