#include "inference/tokenizer/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace glmhost::tokenizer {
namespace {

// Where a run of ASCII that starts at POSITION ends: eight bytes at a time, since most text is mostly ASCII.
std::size_t ascii_end(std::string_view text, std::size_t position) {
  while (position + 8 <= text.size()) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + position, sizeof word);
    if (word & 0x8080808080808080u) break;
    position += 8;
  }
  while (position < text.size() && static_cast<unsigned char>(text[position]) < 0x80) ++position;
  return position;
}

}  // namespace

int utf8_sequence_length(std::string_view bytes) {
  if (bytes.empty()) return -1;
  const auto lead = static_cast<unsigned char>(bytes[0]);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const std::size_t length = utf8_length(lead);
  // The second byte alone tells overlong forms (E0, F0), surrogates (ED) and too large code points (F4).
  const unsigned char second_low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned char second_high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  for (std::size_t i = 1; i < std::min(length, bytes.size()); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    const bool fits = i == 1 ? byte >= second_low && byte <= second_high : (byte & 0xC0) == 0x80;
    if (!fits) return 0;
  }
  return bytes.size() < length ? -1 : static_cast<int>(length);
}

bool is_valid_utf8(std::string_view bytes) {
  std::size_t position = 0;
  while ((position = ascii_end(bytes, position)) < bytes.size()) {
    const int length = utf8_sequence_length(bytes.substr(position));
    if (length <= 0) return false;
    position += static_cast<std::size_t>(length);
  }
  return true;
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::size_t position = 0;
  while (position < text.size()) {
    const int length = utf8_sequence_length(text.substr(position));
    if (length > 0) {
      out.append(text.substr(position, static_cast<std::size_t>(length)));
      position += static_cast<std::size_t>(length);
    } else {
      out.append(kReplacementCharacter);
      ++position;
    }
  }
  return out;
}

}  // namespace glmhost::tokenizer
