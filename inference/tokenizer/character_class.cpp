#include "inference/tokenizer/character_class.h"

#include <utf8proc.h>

#include <array>

namespace glmhost::tokenizer {
namespace {

bool is_whitespace(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

CharacterClass category_class(char32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return kLetter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return kNumber;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return kMark;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return kPunctuation;
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO:
      return kSymbol;
    default:
      return 0;
  }
}

CharacterClass classify(char32_t c) {
  // Added by Unicode 15.1: CJK unified ideographs extension I and five ideographic description characters.
  if (c >= 0x2EBF0 && c <= 0x2EE5D) return kLetter;
  if ((c >= 0x2FFC && c <= 0x2FFF) || c == 0x31EF) return kSymbol;
  if (is_whitespace(c)) return c == '\r' || c == '\n' ? kWhitespace | kNewline : kWhitespace;
  return category_class(c);
}

// The basic multilingual plane, looked up once a character: patterns look at most characters several times.
std::array<CharacterClass, 0x10000> basic_plane() {
  std::array<CharacterClass, 0x10000> table{};
  for (char32_t c = 0; c < table.size(); ++c) table[c] = classify(c);
  return table;
}

}  // namespace

CharacterClass character_class(char32_t code_point) {
  static const std::array<CharacterClass, 0x10000> table = basic_plane();
  return code_point < table.size() ? table[code_point] : classify(code_point);
}

}  // namespace glmhost::tokenizer
