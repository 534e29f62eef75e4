#include "host/model_store/sha256.h"

#include <algorithm>

namespace glmhost::model_store {

std::optional<std::string> parse_sha256(std::string_view text) {
  if (text.starts_with("sha256:")) text.remove_prefix(7);
  if (text.size() != 64) return std::nullopt;
  std::string digest(text);
  std::ranges::transform(digest, digest.begin(),
                         [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c; });
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (!std::ranges::all_of(digest, is_hex)) return std::nullopt;
  return digest;
}

std::string to_hex(std::span<const unsigned char> bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const unsigned char byte : bytes) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

}  // namespace glmhost::model_store
