// Pre-tokenisation: cuts text into the pieces that byte-pair merges never cross.
//
// A published pre-tokeniser is a list of patterns. Each pattern is applied to every piece that the ones before it left:
// its matches become pieces of their own, and so does each stretch between two matches ("Split, isolated" in the
// tokenizers library). Here a pattern is a hand-written matcher: given a piece and a position it returns where the
// match that starts there ends, or the position itself when none starts there. Every matcher looks at no more
// characters than it consumes, plus one run of white space, so a text takes linear time.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "inference/tokenizer/utf8.h"

namespace glmhost::tokenizer {

// TEXT is valid UTF-8 and never empty; POSITION is the start of a character in it.
using PatternMatcher = std::size_t (*)(std::string_view text, std::size_t position);

struct PreTokenizer {
  std::string_view name;  // a value of tokenizer.ggml.pre
  std::span<const PatternMatcher> patterns;
  bool ignore_merges;  // a piece that is a token is taken whole, whatever the merges say
  bool add_bos;        // when the file does not say
};

// The pre-tokeniser of a GGUF file's tokenizer.ggml.pre; nothing for a name that is not known here.
const PreTokenizer* find_pre_tokenizer(std::string_view name);

// The names that find_pre_tokenizer knows, in the order a person should read them.
std::span<const PreTokenizer> known_pre_tokenizers();

// Calls EMIT(std::string_view piece) for the pieces of TEXT (valid UTF-8) in order; together they are TEXT.
template <class Emit>
void for_each_piece(std::span<const PatternMatcher> patterns, std::string_view text, const Emit& emit) {
  if (patterns.empty()) {
    emit(text);
    return;
  }
  const auto rest = patterns.subspan(1);
  std::size_t gap = 0;
  std::size_t position = 0;
  while (position < text.size()) {
    const std::size_t end = patterns[0](text, position);
    if (end == position) {
      position += utf8_length(static_cast<unsigned char>(text[position]));
      continue;
    }
    if (gap < position) for_each_piece(rest, text.substr(gap, position - gap), emit);
    for_each_piece(rest, text.substr(position, end - position), emit);
    gap = position = end;
  }
  if (gap < text.size()) for_each_piece(rest, text.substr(gap), emit);
}

}  // namespace glmhost::tokenizer
