#include "inference/tokenizer/character_cursor.h"

namespace glmhost::tokenizer {

std::size_t run_of(std::string_view text, std::size_t position, CharacterClass classes) {
  return run_end(text, position, [classes](const Character& c) { return c.is(classes); });
}

std::size_t run_of_at_most(std::string_view text, std::size_t position, CharacterClass classes, int limit) {
  return run_end(text, position, [classes, &limit](const Character& c) { return c.is(classes) && limit-- > 0; });
}

std::size_t whitespace_run(std::string_view text, std::size_t position) {
  std::size_t last_start = position;
  std::size_t end = position;
  for (Character c = character_at(text, end); c.is(kWhitespace); c = character_at(text, end)) {
    last_start = end;
    end = c.end;
  }
  return end == text.size() || last_start == position ? end : last_start;
}

std::size_t whitespace_to_last_newline(std::string_view text, std::size_t position) {
  std::size_t end = position;
  run_end(text, position, [&end](const Character& c) {
    if (c.is(kNewline)) end = c.end;
    return c.is(kWhitespace);
  });
  return end;
}

}  // namespace glmhost::tokenizer
