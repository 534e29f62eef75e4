#include "inference/model_files/error_text.h"

#include <algorithm>

namespace glmhost::model_files {
namespace {

// Length of the well-formed, printable UTF-8 character at the start of text; 0 for anything else.
std::size_t printable_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = byte(1);
  if (first == 0xc2 && second < 0xa0) return 0;                                         // C1 control characters
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0)) return 0;  // overlong, surrogates
  if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90)) return 0;  // overlong, above U+10FFFF
  if (first == 0xe2 && second == 0x80) {  // marks of text direction, line and paragraph separators
    const unsigned char third = byte(2);
    if (third == 0x8e || third == 0x8f || (third >= 0xa8 && third <= 0xae)) return 0;
  }
  if (first == 0xe2 && second == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xaf) return 0;  // more text direction
  return length;
}

std::string printable(std::string_view text, std::size_t limit) {
  std::string result;
  std::size_t at = 0;
  while (at < text.size() && at < limit) {
    const std::size_t length = printable_character(text.substr(at));
    if (length == 0) {
      result += '?';
      ++at;
    } else {
      result += text.substr(at, length);
      at += length;
    }
  }
  if (at < text.size()) result += "...";
  return '"' + result + '"';
}

}  // namespace

std::string quoted_text(std::string_view text) {
  return printable(text, 100);
}

std::string quoted_path(const std::filesystem::path& path) {
  const std::u8string utf8 = path.u8string();
  return printable({reinterpret_cast<const char*>(utf8.data()), utf8.size()}, 4096);
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t from_end = 3; from_end < digits.size(); from_end += 4) {
    digits.insert(digits.size() - from_end, 1, ',');
  }
  return digits;
}

std::string byte_count(std::uint64_t bytes) {
  return grouped(bytes) + (bytes == 1 ? " byte" : " bytes");
}

}  // namespace glmhost::model_files
