// What a stretch of UTF-8 text adds up to: lengths in every encoding of positions, and line ends.
#pragma once

#include <cstddef>
#include <string_view>

namespace glmhost::documents {

struct TextSummary {
  std::size_t bytes = 0;
  std::size_t characters = 0;  // code points: UTF-32 units
  std::size_t units = 0;       // UTF-16 units
  std::size_t line_ends = 0;   // \n, \r\n and \r; a \r at the end counts, whatever may follow
  bool begins_with_lf = false;
  bool ends_with_cr = false;

  bool operator==(const TextSummary&) const = default;
};

TextSummary summarize(std::string_view text);

// Of two stretches, one behind the other.
inline TextSummary operator+(const TextSummary& a, const TextSummary& b) {
  if (a.bytes == 0) return b;
  if (b.bytes == 0) return a;
  const std::size_t joined = a.ends_with_cr && b.begins_with_lf ? 1 : 0;  // the two are one line end
  return {a.bytes + b.bytes, a.characters + b.characters,
          a.units + b.units, a.line_ends + b.line_ends - joined,
          a.begins_with_lf,  b.ends_with_cr};
}

inline bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

// Bytes of the character that starts with LEAD, in valid text.
inline std::size_t character_bytes(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

}  // namespace glmhost::documents
