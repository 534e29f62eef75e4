// From the bytes of a MessagePack body to a JSON value, within bounds.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace glmhost::protocol {

// Arrays, maps and their elements in one body. With it and kMaxNesting, a body of kMaxBodyBytes needs at most about
// 100 MB beside its own text while it is decoded.
inline constexpr std::size_t kMaxValues = 2u << 20;

// Fills `value`, or says what is wrong: not MessagePack, bytes left over, nested deeper than kMaxNesting, more than
// kMaxValues values, a key twice in one map, binary data, or text that is not UTF-8. May throw std::bad_alloc only.
std::optional<std::string> read_body(std::string_view bytes, nlohmann::ordered_json& value);

}  // namespace glmhost::protocol
