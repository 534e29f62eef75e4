#include "host/ranges/transcode.h"

#include <cstdint>
#include <cstring>

namespace glmhost::ranges {

std::size_t to_utf8(std::u16string_view utf16, char* to) {
  char* const begin = to;
  const char16_t* from = utf16.data();
  const char16_t* const end = from + utf16.size();
  while (from < end) {
    // Four ASCII units at a time: most of what stands in cells.
    while (end - from >= 4) {
      std::uint64_t units = 0;
      std::memcpy(&units, from, sizeof(units));
      if ((units & 0xFF80FF80FF80FF80u) != 0) break;
      units |= units >> 8;
      const auto low = static_cast<std::uint32_t>((units & 0xFFFF) | (units >> 16 & 0xFFFF0000));
      std::memcpy(to, &low, sizeof(low));
      to += 4;
      from += 4;
    }
    if (from == end) break;
    std::uint32_t code = *from++;
    if (code >= 0xD800 && code < 0xE000) {
      if (code < 0xDC00 && from < end && *from >= 0xDC00 && *from < 0xE000) {
        code = 0x10000 + ((code - 0xD800) << 10) + (*from++ - 0xDC00u);
      } else {
        code = 0xFFFD;
      }
    }
    if (code < 0x80) {
      *to++ = static_cast<char>(code);
    } else if (code < 0x800) {
      *to++ = static_cast<char>(0xC0 | code >> 6);
      *to++ = static_cast<char>(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
      *to++ = static_cast<char>(0xE0 | code >> 12);
      *to++ = static_cast<char>(0x80 | (code >> 6 & 0x3F));
      *to++ = static_cast<char>(0x80 | (code & 0x3F));
    } else {
      *to++ = static_cast<char>(0xF0 | code >> 18);
      *to++ = static_cast<char>(0x80 | (code >> 12 & 0x3F));
      *to++ = static_cast<char>(0x80 | (code >> 6 & 0x3F));
      *to++ = static_cast<char>(0x80 | (code & 0x3F));
    }
  }
  return static_cast<std::size_t>(to - begin);
}

bool is_utf8(std::string_view text) {
  const auto* at = reinterpret_cast<const unsigned char*>(text.data());
  const unsigned char* const end = at + text.size();
  const auto continues = [&](int offset) { return (at[offset] & 0xC0) == 0x80; };
  while (at < end) {
    std::uint64_t bytes = 0;
    while (end - at >= 8) {
      std::memcpy(&bytes, at, sizeof(bytes));
      if ((bytes & 0x8080808080808080u) != 0) break;
      at += 8;
    }
    if (at == end) break;
    const std::ptrdiff_t left = end - at;
    if (at[0] < 0x80) {
      ++at;
    } else if (at[0] >= 0xC2 && at[0] < 0xE0) {
      if (left < 2 || !continues(1)) return false;
      at += 2;
    } else if (at[0] >= 0xE0 && at[0] < 0xF0) {
      if (left < 3 || !continues(1) || !continues(2)) return false;
      if (at[0] == 0xE0 && at[1] < 0xA0) return false;
      if (at[0] == 0xED && at[1] >= 0xA0) return false;
      at += 3;
    } else if (at[0] >= 0xF0 && at[0] <= 0xF4) {
      if (left < 4 || !continues(1) || !continues(2) || !continues(3)) return false;
      if (at[0] == 0xF0 && at[1] < 0x90) return false;
      if (at[0] == 0xF4 && at[1] >= 0x90) return false;
      at += 4;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace glmhost::ranges
