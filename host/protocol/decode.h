// What decoding has in common in both directions: frames, version, id and body.
#pragma once

#include <span>
#include <string_view>
#include <variant>

#include "host/protocol/fields.h"
#include "host/protocol/messages.h"

namespace glmhost::protocol {

struct RawMessage {
  std::uint64_t id = 0;
  std::uint8_t kind = 0;
  nlohmann::ordered_json body;
};

// `sender` and `receiver` ("client", "daemon") are for the sentences.
std::variant<RawMessage, DecodeError> decode_frames(std::span<const std::string_view> frames, std::string_view sender,
                                                    std::string_view receiver);

// 0 where there is none.
std::uint64_t message_id(std::span<const std::string_view> frames);

std::string version_mismatch(std::string_view sender, std::uint32_t version, std::string_view receiver);

DecodeError bad_message(std::uint64_t id, std::string sentence);

// Texts that are names, not content.
inline constexpr std::size_t kMaxNameBytes = 256;
inline constexpr std::size_t kMaxPathBytes = 4096;

void read_hello(Fields& fields, Hello& hello);

// A map inside the body, read by the same rules.
template <class Part>
void read_part(Fields& fields, const Fields::Json& value, std::string where, Part& part, void (*read)(Fields&, Part&)) {
  Fields inner(value, std::move(where));
  if (!inner.error()) read(inner, part);
  if (inner.error()) fields.fail(*inner.error());
}

// Runs `read(fields, message)` over the body, and wraps up.
template <class Messages, class Message>
std::variant<Envelope<Messages>, DecodeError> decode_body(const RawMessage& raw, void (*read)(Fields&, Message&)) {
  Envelope<Messages> envelope;
  envelope.id = raw.id;
  Message& message = envelope.message.template emplace<Message>();
  Fields fields(raw.body);
  if (!fields.error()) read(fields, message);
  if (fields.error()) return bad_message(raw.id, *fields.error());
  return envelope;
}

// Memory is the one thing that decoding itself can run out of.
template <class Messages, class Decode>
std::variant<Envelope<Messages>, DecodeError> decode_guarded(std::span<const std::string_view> frames, Decode decode) {
  try {
    return decode(frames);
  } catch (const std::exception&) {
    return DecodeError{message_id(frames),
                       {ErrorCode::too_large, "There is not enough memory for this message. Send less at once."}};
  }
}

}  // namespace glmhost::protocol
