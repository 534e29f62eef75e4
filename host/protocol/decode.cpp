#include "host/protocol/decode.h"

#include "host/protocol/body_reader.h"

namespace glmhost::protocol {

std::uint64_t message_id(std::span<const std::string_view> frames) {
  std::uint64_t id = 0;
  if (frames.size() < 2 || frames[1].size() != 8) return id;
  for (int byte = 0; byte < 8; ++byte) id |= std::uint64_t{static_cast<unsigned char>(frames[1][byte])} << (8 * byte);
  return id;
}

std::string version_mismatch(std::string_view sender, std::uint32_t version, std::string_view receiver) {
  return "The " + std::string(sender) + " speaks protocol version " + std::to_string(version) + " and the " +
         std::string(receiver) + " version " + std::to_string(kProtocolVersion) +
         ". Use programs of the same GLM Host release, and restart the daemon after an update (`glm stop`, then "
         "`glm serve`).";
}

DecodeError bad_message(std::uint64_t id, std::string sentence) {
  return {id, {ErrorCode::bad_request, std::move(sentence)}};
}

std::variant<RawMessage, DecodeError> decode_frames(std::span<const std::string_view> frames, std::string_view sender,
                                                    std::string_view receiver) {
  RawMessage raw;
  raw.id = message_id(frames);
  if (frames.empty() || frames[0].size() != 2) {
    return bad_message(raw.id, "A message must begin with a frame of 2 bytes: version and kind.");
  }
  const auto version = static_cast<std::uint8_t>(frames[0][0]);
  raw.kind = static_cast<std::uint8_t>(frames[0][1]);
  if (version != kProtocolVersion) {
    return bad_message(raw.id, version_mismatch(sender, version, receiver));
  }
  if (frames.size() != 3 || frames[1].size() != 8) {
    return bad_message(raw.id, "A message must have 3 frames: version and kind, a request id of 8 bytes, and a body.");
  }
  if (frames[2].size() > kMaxBodyBytes) {
    return DecodeError{
        raw.id,
        {ErrorCode::too_large, "The message is " + std::to_string(frames[2].size()) + " bytes long; at most " +
                                   std::to_string(kMaxBodyBytes) + " are allowed. Send less at once."}};
  }
  if (auto error = read_body(frames[2], raw.body)) return bad_message(raw.id, std::move(*error));
  return raw;
}

void read_hello(Fields& fields, Hello& hello) {
  fields.require("protocol_version");
  fields.whole("protocol_version", hello.protocol_version);
  fields.text("program", hello.program, kMaxNameBytes);
  fields.text("version", hello.version, kMaxNameBytes);
  fields.whole("pid", hello.pid);
}

}  // namespace glmhost::protocol
