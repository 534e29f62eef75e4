// Reading valid UTF-8 character by character, for pattern matchers.
#pragma once

#include <cstddef>
#include <string_view>

#include "inference/tokenizer/character_class.h"
#include "inference/tokenizer/utf8.h"

namespace glmhost::tokenizer {

struct Character {
  char32_t code_point;  // 0 at the end of the text
  CharacterClass classes;
  std::size_t end;  // where the next one starts

  bool is(CharacterClass any_of) const { return (classes & any_of) != 0; }
};

// The character at POSITION. At the end of the text: no classes and end == position, which no pattern takes.
inline Character character_at(std::string_view text, std::size_t position) {
  if (position >= text.size()) return {0, 0, position};
  const char32_t c = utf8_code_point(text, position);
  return {c, character_class(c), position + utf8_length(static_cast<unsigned char>(text[position]))};
}

// The character that ends at POSITION > 0.
inline Character character_before(std::string_view text, std::size_t position) {
  std::size_t start = position - 1;
  while (start > 0 && (static_cast<unsigned char>(text[start]) & 0xC0) == 0x80) --start;
  return character_at(text, start);
}

// Where the run of characters that satisfy BELONGS (const Character&) ends that starts at POSITION.
template <class Belongs>
std::size_t run_end(std::string_view text, std::size_t position, const Belongs& belongs) {
  while (position < text.size()) {
    const Character c = character_at(text, position);
    if (!belongs(c)) break;
    position = c.end;
  }
  return position;
}

// The same for any of CLASSES, and for at most LIMIT characters.
std::size_t run_of(std::string_view text, std::size_t position, CharacterClass classes);
std::size_t run_of_at_most(std::string_view text, std::size_t position, CharacterClass classes, int limit);

// \s+(?!\S)|\s+ at the white space at POSITION: a run up to the end of the text whole, another without its last
// character, which goes to the word after it; a single character whole.
std::size_t whitespace_run(std::string_view text, std::size_t position);

// \s*[\r\n]+ there: up to the last line end of the run; POSITION when it has none.
std::size_t whitespace_to_last_newline(std::string_view text, std::size_t position);

}  // namespace glmhost::tokenizer
