#include "inference/tokenizer/character_class.h"

#include <doctest/doctest.h>

#include <array>

namespace glmhost::tokenizer {
namespace {

TEST_CASE("characters are in the class of their general category") {
  CHECK(character_class(U'a') == kLetter);
  CHECK(character_class(U'\u00AA') == kLetter);      // feminine ordinal, Lo
  CHECK(character_class(U'\u02B0') == kLetter);      // Lm
  CHECK(character_class(U'\u01C5') == kLetter);      // Lt
  CHECK(character_class(U'\U00020000') == kLetter);  // beyond the basic plane
  CHECK(character_class(U'7') == kNumber);
  CHECK(character_class(U'\u00BD') == kNumber);      // one half, No
  CHECK(character_class(U'\u2167') == kNumber);      // Roman eight, Nl
  CHECK(character_class(U'\U0001D7CE') == kNumber);  // mathematical bold zero
  CHECK(character_class(U'\u0301') == kMark);
  CHECK(character_class(U'\u093E') == kMark);  // Mc
  CHECK(character_class(U'\u20DD') == kMark);  // Me
  CHECK(character_class(U'_') == kPunctuation);
  CHECK(character_class(U'\u3001') == kPunctuation);
  CHECK(character_class(U'$') == kSymbol);
  CHECK(character_class(U'`') == kSymbol);
  CHECK(character_class(U'\U0001F600') == kSymbol);
  CHECK(character_class(0x00) == 0);
  CHECK(character_class(0x200D) == 0);  // joiner, Cf
  CHECK(character_class(0xE000) == 0);  // private use
  CHECK(character_class(0x378) == 0);   // unassigned
  CHECK(character_class(0x10FFFF) == 0);
}

TEST_CASE("white space is the White_Space property, line ends are marked") {
  int spaces = 0;
  for (char32_t c = 0; c < 0x110000; ++c) spaces += (character_class(c) & kWhitespace) != 0;
  CHECK(spaces == 25);
  for (const char32_t c : std::array<char32_t, 8>{0x09, 0x0B, 0x20, 0x85, 0xA0, 0x2028, 0x202F, 0x3000}) {
    CHECK(character_class(c) == kWhitespace);
  }
  CHECK(character_class(U'\n') == (kWhitespace | kNewline));
  CHECK(character_class(U'\r') == (kWhitespace | kNewline));
  for (const char32_t c : std::array<char32_t, 4>{0x1C, 0x180E, 0x200B, 0xFEFF}) CHECK(character_class(c) == 0);
}

TEST_CASE("what Unicode 15.1 added") {
  CHECK(character_class(0x2EBF0) == kLetter);
  CHECK(character_class(0x2EE5D) == kLetter);
  CHECK(character_class(0x2EE5E) == 0);
  CHECK(character_class(0x2FFC) == kSymbol);
  CHECK(character_class(0x31EF) == kSymbol);
}

}  // namespace
}  // namespace glmhost::tokenizer
