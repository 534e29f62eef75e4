#include "inference/tokenizer/utf8.h"

#include <doctest/doctest.h>

#include <string>

namespace glmhost::tokenizer {
namespace {

// By the definition of UTF-8, not by the table of well-formed sequences that the code uses.
std::string encode(char32_t c) {
  std::string out;
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
  return out;
}

TEST_CASE("every code point but surrogates is a sequence of its length, and its beginnings are unfinished") {
  int wrong = 0;
  for (char32_t c = 0; c < 0x110000; ++c) {
    const std::string text = encode(c);
    const bool surrogate = c >= 0xD800 && c < 0xE000;
    const int length = static_cast<int>(text.size());
    wrong += utf8_sequence_length(text) != (surrogate ? 0 : length);
    wrong += utf8_sequence_length(text + "x") != (surrogate ? 0 : length);
    wrong += !surrogate && utf8_code_point("ab" + text, 2) != c;
    for (int part = 1; part < length; ++part) {
      // The first byte of a surrogate also starts sound characters; its second byte gives it away.
      const int expected = surrogate && part > 1 ? 0 : -1;
      wrong += utf8_sequence_length(std::string_view(text).substr(0, static_cast<std::size_t>(part))) != expected;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("bytes that start no character") {
  for (const char* bytes : {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2\x41", "\xE0\x80\x80", "\xE0\x9F\xBF",
                            "\xED\xA0\x80", "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
                            "\xF5\x80\x80\x80", "\xFF", "\xE4\xB8\x41", "\xF0\x9F\x98\x41"}) {
    CHECK(utf8_sequence_length(bytes) == 0);
    CHECK_FALSE(is_valid_utf8(bytes));
    CHECK_FALSE(is_valid_utf8(std::string("1234567890") + bytes));
  }
  CHECK(is_valid_utf8(""));
  CHECK(is_valid_utf8("plain text, longer than eight bytes, \xE2\x82\xAC and \xF0\x9F\x98\x80"));
  CHECK_FALSE(is_valid_utf8("cut short \xE2\x82"));
}

TEST_CASE("each bad byte becomes one replacement character") {
  CHECK(replace_invalid_utf8("a\xFFz") == "a\xEF\xBF\xBDz");
  CHECK(replace_invalid_utf8("\xE4\xB8") == "\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(replace_invalid_utf8("\xED\xA0\x80") == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(replace_invalid_utf8("\xE4\xB8\xAD\xE4") == "\xE4\xB8\xAD\xEF\xBF\xBD");
  CHECK(replace_invalid_utf8("h\xC3\xA9") == "h\xC3\xA9");
}

}  // namespace
}  // namespace glmhost::tokenizer
