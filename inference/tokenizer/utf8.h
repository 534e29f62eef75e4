// UTF-8 as the tokenizer needs it: what a byte sequence is, and one character of text that is known to be valid.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace glmhost::tokenizer {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD

// Length (1..4) of the valid sequence that BYTES starts with; 0 when its first byte starts none (overlong forms,
// surrogates and code points beyond U+10FFFF included); -1 when BYTES, to its end, is a proper beginning of one.
int utf8_sequence_length(std::string_view bytes);

bool is_valid_utf8(std::string_view bytes);

// TEXT with U+FFFD for each byte that starts no valid sequence.
std::string replace_invalid_utf8(std::string_view text);

// The byte length of the character that starts with LEAD, in valid text.
inline std::size_t utf8_length(unsigned char lead) {
  return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

// The code point at POSITION of valid text.
inline char32_t utf8_code_point(std::string_view text, std::size_t position) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[position + i]); };
  const char32_t lead = byte(0);
  if (lead < 0x80) return lead;
  if (lead < 0xE0) return (lead & 0x1F) << 6 | (byte(1) & 0x3F);
  if (lead < 0xF0) return (lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
  return (lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
}

}  // namespace glmhost::tokenizer
