// The Unicode classes that pre-tokeniser patterns are written in.
//
// Categories are those of Unicode 15.1, as in llama.cpp: utf8proc 2.8 has 15.0, and the 627 characters that 15.1 added
// are put in by hand. A newer utf8proc would know characters of Unicode 16 and split them as the tokenizers library
// does (which has 16.0): letters, digits, marks and symbols added by 16.0 are the only text on which these differ.
#pragma once

#include <cstdint>

namespace glmhost::tokenizer {

// A set of classes, one bit each.
using CharacterClass = std::uint8_t;

inline constexpr CharacterClass kLetter = 1;       // \p{L}
inline constexpr CharacterClass kNumber = 2;       // \p{N}
inline constexpr CharacterClass kMark = 4;         // \p{M}
inline constexpr CharacterClass kPunctuation = 8;  // \p{P}
inline constexpr CharacterClass kSymbol = 16;      // \p{S}
inline constexpr CharacterClass kWhitespace = 32;  // \s: the White_Space property
inline constexpr CharacterClass kNewline = 64;     // [\r\n]; kWhitespace is set too

// Zero for what is in none of them: control and format characters, private use, unassigned code points.
CharacterClass character_class(char32_t code_point);

}  // namespace glmhost::tokenizer
