#include "excel-addin/functions/topic.h"

#include <charconv>

namespace glmhost::functions {

std::string Topic::text() const {
  std::string text;
  for (const std::uint64_t half : {high, low}) {
    for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[half >> shift & 15];
  }
  return text;
}

std::optional<Topic> Topic::parse(std::string_view text) {
  if (text.size() != 32) return std::nullopt;
  Topic topic;
  const auto read = [](std::string_view digits, std::uint64_t& half) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), half, 16);
    return error == std::errc() && end == digits.data() + digits.size();
  };
  if (!read(text.substr(0, 16), topic.high) || !read(text.substr(16), topic.low)) return std::nullopt;
  return topic;
}

}  // namespace glmhost::functions
