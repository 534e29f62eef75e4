#include "host/protocol/utf8.h"

#include <cstdint>

namespace glmhost::protocol {

bool is_utf8(std::string_view text) {
  const auto* byte = reinterpret_cast<const unsigned char*>(text.data());
  const auto* const end = byte + text.size();
  while (byte != end) {
    if (*byte < 0x80) {
      ++byte;
      continue;
    }
    // The length, and the smallest character that needs it.
    int length = 0;
    std::uint32_t smallest = 0;
    std::uint32_t character = 0;
    if ((*byte & 0xE0) == 0xC0) {
      length = 2, smallest = 0x80, character = *byte & 0x1F;
    } else if ((*byte & 0xF0) == 0xE0) {
      length = 3, smallest = 0x800, character = *byte & 0x0F;
    } else if ((*byte & 0xF8) == 0xF0) {
      length = 4, smallest = 0x10000, character = *byte & 0x07;
    } else {
      return false;
    }
    if (end - byte < length) return false;
    for (int i = 1; i < length; ++i) {
      if ((byte[i] & 0xC0) != 0x80) return false;
      character = character << 6 | (byte[i] & 0x3F);
    }
    if (character < smallest || character > 0x10FFFF || (character >= 0xD800 && character <= 0xDFFF)) return false;
    byte += length;
  }
  return true;
}

}  // namespace glmhost::protocol
