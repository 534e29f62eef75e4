// Frames and bodies made by hand, for what encode() would never make.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "host/protocol/messages.h"

namespace glmhost::test {

inline std::vector<std::string_view> views(const protocol::Frames& frames) {
  return {frames.begin(), frames.end()};
}

inline std::string head(protocol::Kind kind, int version = protocol::kProtocolVersion) {
  return {static_cast<char>(version), static_cast<char>(kind)};
}

inline std::string id_frame(std::uint64_t id) {
  std::string frame;
  for (int byte = 0; byte < 8; ++byte) frame += static_cast<char>(id >> (8 * byte) & 0xFF);
  return frame;
}

inline std::string pack(const nlohmann::ordered_json& body) {
  std::string bytes;
  nlohmann::ordered_json::to_msgpack(body, bytes);
  return bytes;
}

// With request id 7.
inline protocol::Frames message(protocol::Kind kind, std::string body) {
  return {head(kind), id_frame(7), std::move(body)};
}
inline protocol::Frames message(protocol::Kind kind, const nlohmann::ordered_json& body) {
  return message(kind, pack(body));
}

}  // namespace glmhost::test
