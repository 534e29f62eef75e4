// The patterns that grew out of GPT-2's: gpt-2, llama-bpe = glm4, qwen2, and the digit splits that go before.
#include "inference/tokenizer/character_cursor.h"
#include "inference/tokenizer/patterns.h"

namespace glmhost::tokenizer {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// 's|'t|'re|'ve|'m|'ll|'d at the apostrophe at POSITION, in lower case only or in any; POSITION when none is there.
// "Any case" means ASCII: the tokenizers library also lets U+017F pass for an s, llama.cpp does not.
std::size_t contraction(std::string_view text, std::size_t position, bool any_case) {
  const auto letter = [&](std::size_t offset) {
    const char c = position + offset < text.size() ? text[position + offset] : '\0';
    return any_case ? lower(c) : c;
  };
  const char first = letter(1);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return position + 2;
  const char second = letter(2);
  if ((first == 'r' || first == 'v') && second == 'e') return position + 3;
  if (first == 'l' && second == 'l') return position + 3;
  return position;
}

// [^\s\p{L}\p{N}]
bool is_other(const Character& c) {
  return !c.is(kWhitespace | kLetter | kNumber);
}

// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,DIGITS}|
// ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
std::size_t match_llama(std::string_view text, std::size_t position, int digits) {
  const Character first = character_at(text, position);
  if (first.code_point == '\'') {
    const std::size_t end = contraction(text, position, true);
    if (end != position) return end;
  }
  if (first.is(kLetter)) return run_of(text, first.end, kLetter);
  if (first.is(kNumber)) return run_of_at_most(text, position, kNumber, digits);

  const Character second = character_at(text, first.end);
  if (second.is(kLetter) && !first.is(kNewline)) return run_of(text, second.end, kLetter);

  const bool spaced = first.code_point == ' ' && second.end != first.end && is_other(second);
  if (spaced || is_other(first)) return run_of(text, run_end(text, first.end, is_other), kNewline);

  const std::size_t newline = whitespace_to_last_newline(text, position);
  return newline != position ? newline : whitespace_run(text, position);
}

}  // namespace

// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
std::size_t match_gpt2(std::string_view text, std::size_t position) {
  const Character first = character_at(text, position);
  if (first.code_point == '\'') {
    const std::size_t end = contraction(text, position, false);
    if (end != position) return end;
  }
  const Character second = character_at(text, first.end);
  const bool spaced = first.code_point == ' ' && second.end != first.end && !second.is(kWhitespace);
  const Character& word = spaced ? second : first;
  if (word.is(kLetter)) return run_of(text, word.end, kLetter);
  if (word.is(kNumber)) return run_of(text, word.end, kNumber);
  if (is_other(word)) return run_end(text, word.end, is_other);
  return whitespace_run(text, position);
}

std::size_t match_llama3(std::string_view text, std::size_t position) {
  return match_llama(text, position, 3);
}

std::size_t match_qwen2(std::string_view text, std::size_t position) {
  return match_llama(text, position, 1);
}

std::size_t match_number(std::string_view text, std::size_t position) {
  return run_of_at_most(text, position, kNumber, 1);
}

std::size_t match_up_to_three_numbers(std::string_view text, std::size_t position) {
  return run_of_at_most(text, position, kNumber, 3);
}

}  // namespace glmhost::tokenizer
