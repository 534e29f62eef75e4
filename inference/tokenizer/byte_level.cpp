#include "inference/tokenizer/byte_level.h"

#include <array>
#include <cstdint>

#include "inference/tokenizer/utf8.h"

namespace glmhost::tokenizer {
namespace {

constexpr std::size_t kCharacters = 0x100 + 68;  // 68 bytes are not printable in Latin-1
constexpr std::int16_t kNoByte = -1;

constexpr bool stands_for_itself(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

constexpr std::array<std::int16_t, kCharacters> byte_of_character() {
  std::array<std::int16_t, kCharacters> table{};
  table.fill(kNoByte);
  std::size_t other = 0x100;
  for (int byte = 0; byte < 0x100; ++byte) {
    table[stands_for_itself(byte) ? static_cast<std::size_t>(byte) : other++] = static_cast<std::int16_t>(byte);
  }
  return table;
}

constexpr auto kByteOfCharacter = byte_of_character();

}  // namespace

void append_byte_level(std::string_view text, std::string& out) {
  std::size_t position = 0;
  while (position < text.size()) {
    const auto lead = static_cast<unsigned char>(text[position]);
    if (lead < 0x80 && stands_for_itself(lead)) {  // most of every vocabulary
      out += text[position++];
      continue;
    }
    const int length = utf8_sequence_length(text.substr(position));
    const char32_t c = length == 2 ? utf8_code_point(text, position) : kCharacters;
    const std::size_t taken = length > 0 ? static_cast<std::size_t>(length) : 1;
    if (c < kCharacters && kByteOfCharacter[c] != kNoByte) {
      out += static_cast<char>(kByteOfCharacter[c]);
    } else {
      out.append(text.substr(position, taken));
    }
    position += taken;
  }
}

}  // namespace glmhost::tokenizer
