// Pieces equal those of Hugging Face's tokenizers (0.23.3) with the published patterns.
#include "inference/tokenizer/pre_tokenizer.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "inference/tokenizer/patterns.h"

namespace glmhost::tokenizer {
namespace {

std::vector<std::string> pieces_of(std::string_view kind, std::string_view text) {
  const PreTokenizer* pre_tokenizer = find_pre_tokenizer(kind);
  REQUIRE(pre_tokenizer != nullptr);
  std::vector<std::string> pieces;
  for_each_piece(pre_tokenizer->patterns, text, [&](std::string_view piece) { pieces.emplace_back(piece); });
  return pieces;
}

std::string utf8_text(char32_t c) {
  const auto tail = [c](int shift) { return static_cast<char>(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x800) return {static_cast<char>(0xC0 | c >> 6), tail(0)};
  if (c < 0x10000) return {static_cast<char>(0xE0 | c >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | c >> 18), tail(12), tail(6), tail(0)};
}

struct Case {
  const char* kind;
  std::vector<std::string> pieces;
};

const std::vector<Case> kCases = {
    {"gpt-2", {"I", "'m", " SURE", " they", "'", "LL", " say", " '", "tis"}},
    {"gpt-2", {"a", " ", " b", "   \n\n", " c", " \t"}},
    {"gpt-2", {"x", "12345", " 6\xC2\xBD\xEF\xBC\x97"}},
    {"gpt-2", {" ", " def", " f", "(", "x", "):", "\r\n", "\t", "return", " x", "!=", "1", ";;"}},
    {"gpt-2", {"caf\xC3\xA9s", " l", "'", "\xC3\xA9t\xC3\xA9"}},
    {"gpt-2", {"\xE4\xBD\xA0\xE5\xA5\xBD", "\xEF\xBC\x8C", " world", "\xE3\x80\x82", "abc\xE3\x81\x82"}},
    {"gpt-2", {"!!", "word", " (", "word", ")", " $", "5", ".", "00", " \xE2\x80\x8D", "z", "\xCC\x81", " \xCC\x81"}},
    {"gpt-2", {"end", "   "}},
    {"gpt-2", {"\xE3\x80\x80", "\xE3\x80\x80", "a", "\xC2\xA0", "b"}},
    {"smollm", {"I", "'m", " SURE", " they", "'", "LL", " say", " '", "tis"}},
    {"smollm", {"a", " ", " b", "   \n\n", " c", " \t"}},
    {"smollm", {"x", "1", "2", "3", "4", "5", " ", "6", "\xC2\xBD", "\xEF\xBC\x97"}},
    {"smollm", {" ", " def", " f", "(", "x", "):", "\r\n", "\t", "return", " x", "!=", "1", ";;"}},
    {"smollm", {"caf\xC3\xA9s", " l", "'", "\xC3\xA9t\xC3\xA9"}},
    {"smollm", {"\xE4\xBD\xA0\xE5\xA5\xBD", "\xEF\xBC\x8C", " world", "\xE3\x80\x82", "abc\xE3\x81\x82"}},
    {"smollm",
     {"!!", "word", " (", "word", ")", " $", "5", ".", "0", "0", " \xE2\x80\x8D", "z", "\xCC\x81", " \xCC\x81"}},
    {"smollm", {"end", "   "}},
    {"smollm", {"\xE3\x80\x80", "\xE3\x80\x80", "a", "\xC2\xA0", "b"}},
    {"glm4", {"I", "'m", " SURE", " they", "'LL", " say", " '", "tis"}},
    {"glm4", {"a", " ", " b", "   \n\n", " c", " \t"}},
    {"glm4", {"x", "123", "45", " ", "6\xC2\xBD\xEF\xBC\x97"}},
    {"glm4", {" ", " def", " f", "(x", "):\r\n", "\treturn", " x", "!=", "1", ";;"}},
    {"glm4", {"caf\xC3\xA9s", " l", "'\xC3\xA9t\xC3\xA9"}},
    {"glm4",
     {"\xE4\xBD\xA0\xE5\xA5\xBD", "\xEF\xBC\x8C", " world",
      "\xE3\x80\x82"
      "abc\xE3\x81\x82"}},
    {"glm4", {"!!", "word", " (", "word", ")", " $", "5", ".", "00", " \xE2\x80\x8D", "z", "\xCC\x81", " \xCC\x81"}},
    {"glm4", {"end", "   "}},
    {"glm4",
     {"\xE3\x80\x80",
      "\xE3\x80\x80"
      "a",
      "\xC2\xA0"
      "b"}},
    {"qwen2", {"I", "'m", " SURE", " they", "'LL", " say", " '", "tis"}},
    {"qwen2", {"a", " ", " b", "   \n\n", " c", " \t"}},
    {"qwen2", {"x", "1", "2", "3", "4", "5", " ", "6", "\xC2\xBD", "\xEF\xBC\x97"}},
    {"qwen2", {" ", " def", " f", "(x", "):\r\n", "\treturn", " x", "!=", "1", ";;"}},
    {"qwen2", {"caf\xC3\xA9s", " l", "'\xC3\xA9t\xC3\xA9"}},
    {"qwen2",
     {"\xE4\xBD\xA0\xE5\xA5\xBD", "\xEF\xBC\x8C", " world",
      "\xE3\x80\x82"
      "abc\xE3\x81\x82"}},
    {"qwen2",
     {"!!", "word", " (", "word", ")", " $", "5", ".", "0", "0", " \xE2\x80\x8D", "z", "\xCC\x81", " \xCC\x81"}},
    {"qwen2", {"end", "   "}},
    {"qwen2",
     {"\xE3\x80\x80",
      "\xE3\x80\x80"
      "a",
      "\xC2\xA0"
      "b"}},
    {"deepseek-llm", {"I", "'", "m", " SURE", " they", "'", "LL", " say", " '", "tis"}},
    {"deepseek-llm", {"a", " ", " b", "   ", "\n", "\n", " c", " \t"}},
    {"deepseek-llm", {"x", "1", "2", "3", "4", "5", " ", "6", "\xC2\xBD", "\xEF\xBC\x97"}},
    {"deepseek-llm", {" ", " def", " f", "(", "x", "):", "\r", "\n", "\treturn", " x", "!=", "1", ";;"}},
    {"deepseek-llm", {"caf", "\xC3\xA9", "s", " l", "'", "\xC3\xA9", "t", "\xC3\xA9"}},
    {"deepseek-llm", {"\xE4\xBD\xA0\xE5\xA5\xBD", "\xEF\xBC\x8C", " world", "\xE3\x80\x82", "abc", "\xE3\x81\x82"}},
    {"deepseek-llm",
     {"!!", "word", " (", "word", ")", " $", "5", ".", "0", "0", " ", "\xE2\x80\x8D", "z", "\xCC\x81 \xCC\x81"}},
    {"deepseek-llm", {"end", "   "}},
    {"deepseek-llm",
     {"\xE3\x80\x80", "\xE3\x80\x80", "a",
      "\xC2\xA0"
      "b"}},
    {"deepseek-coder", {"I", "'", "m", " SURE", " they", "'", "LL", " say", " '", "tis"}},
    {"deepseek-coder", {"a", " ", " b", "   ", "\n", "\n", " c", " \t"}},
    {"deepseek-coder", {"x", "1", "2", "3", "4", "5", " ", "6", "\xC2\xBD", "\xEF\xBC\x97"}},
    {"deepseek-coder", {" ", " def", " f", "(", "x", "):", "\r", "\n", "\treturn", " x", "!", "=", "1", ";;"}},
    {"deepseek-coder", {"caf\xC3\xA9s", " l", "'", "\xC3\xA9t\xC3\xA9"}},
    {"deepseek-coder", {"\xE4\xBD\xA0\xE5\xA5\xBD", "\xEF\xBC\x8C", " world", "\xE3\x80\x82", "abc", "\xE3\x81\x82"}},
    {"deepseek-coder",
     {"!!", "word", " (", "word", ")", " $", "5", ".", "0", "0", " ", "\xE2\x80\x8D", "z", "\xCC\x81 \xCC\x81"}},
    {"deepseek-coder", {"end", "   "}},
    {"deepseek-coder",
     {"\xE3\x80\x80", "\xE3\x80\x80", "a",
      "\xC2\xA0"
      "b"}},
    {"deepseek-v3", {"I", "'m", " SURE", " they", "'LL", " say", " '", "tis"}},
    {"deepseek-v3", {"a", " ", " b", "   \n\n", " c", " \t"}},
    {"deepseek-v3", {"x", "123", "45", " ", "6\xC2\xBD\xEF\xBC\x97"}},
    {"deepseek-v3", {" ", " def", " f", "(x", "):\r\n", "\treturn", " x", "!=", "1", ";;"}},
    {"deepseek-v3", {"caf\xC3\xA9s", " l", "'", "\xC3\xA9t\xC3\xA9"}},
    {"deepseek-v3", {"\xE4\xBD\xA0\xE5\xA5\xBD", "\xEF\xBC\x8C", " world", "\xE3\x80\x82", "abc", "\xE3\x81\x82"}},
    {"deepseek-v3", {"!!", "word", " (", "word", ")", " $", "5", ".", "00", " ", "\xE2\x80\x8Dz\xCC\x81", " \xCC\x81"}},
    {"deepseek-v3", {"end", "   "}},
    {"deepseek-v3",
     {"\xE3\x80\x80",
      "\xE3\x80\x80"
      "a",
      "\xC2\xA0"
      "b"}},
    {"gpt-2", {"we", "'ve", " you", "'", "D", " I", "'ll", " don", "'t"}},
    {"gpt-2", {"\n", "\n", "abc", " \r", "\n", "x"}},
    {"gpt-2", {"\xE3\x82\xAB\xE3\x82\xBF\xE3\x82\xABna", " \xE3\x81\xB2\xE3\x82\x89", " \xE4\xB8\x80", "!"}},
    {"smollm", {"we", "'ve", " you", "'", "D", " I", "'ll", " don", "'t"}},
    {"smollm", {"\n", "\n", "abc", " \r", "\n", "x"}},
    {"smollm", {"\xE3\x82\xAB\xE3\x82\xBF\xE3\x82\xABna", " \xE3\x81\xB2\xE3\x82\x89", " \xE4\xB8\x80", "!"}},
    {"glm4", {"we", "'ve", " you", "'D", " I", "'ll", " don", "'t"}},
    {"glm4", {"\n\n", "abc", " \r\n", "x"}},
    {"glm4", {"\xE3\x82\xAB\xE3\x82\xBF\xE3\x82\xABna", " \xE3\x81\xB2\xE3\x82\x89", " \xE4\xB8\x80", "!"}},
    {"qwen2", {"we", "'ve", " you", "'D", " I", "'ll", " don", "'t"}},
    {"qwen2", {"\n\n", "abc", " \r\n", "x"}},
    {"qwen2", {"\xE3\x82\xAB\xE3\x82\xBF\xE3\x82\xABna", " \xE3\x81\xB2\xE3\x82\x89", " \xE4\xB8\x80", "!"}},
    {"deepseek-llm", {"we", "'", "ve", " you", "'", "D", " I", "'", "ll", " don", "'", "t"}},
    {"deepseek-llm", {"\n", "\n", "abc", " ", "\r", "\n", "x"}},
    {"deepseek-llm",
     {"\xE3\x82\xAB\xE3\x82\xBF\xE3\x82\xAB", "na", " ", "\xE3\x81\xB2\xE3\x82\x89", " ", "\xE4\xB8\x80", "!"}},
    {"deepseek-coder", {"we", "'", "ve", " you", "'", "D", " I", "'", "ll", " don", "'", "t"}},
    {"deepseek-coder", {"\n", "\n", "abc", " ", "\r", "\n", "x"}},
    {"deepseek-coder",
     {"\xE3\x82\xAB\xE3\x82\xBF\xE3\x82\xAB", "na", " ", "\xE3\x81\xB2\xE3\x82\x89", " ", "\xE4\xB8\x80", "!"}},
    {"deepseek-v3", {"we", "'ve", " you", "'D", " I", "'ll", " don", "'t"}},
    {"deepseek-v3", {"\n\n", "abc", " \r\n", "x"}},
    {"deepseek-v3",
     {"\xE3\x82\xAB\xE3\x82\xBF\xE3\x82\xAB", "na", " ", "\xE3\x81\xB2\xE3\x82\x89", " ", "\xE4\xB8\x80", "!"}},
};

TEST_CASE("pieces of each kind") {
  for (const Case& one : kCases) {
    std::string text;
    for (const std::string& piece : one.pieces) text += piece;
    CAPTURE(one.kind);
    CHECK(pieces_of(one.kind, text) == one.pieces);
  }
}

TEST_CASE("names that stand for the same patterns") {
  const std::string text = "It's 12345,  ok?\n";
  CHECK(pieces_of("chatglm-bpe", text) == pieces_of("glm4", text));
  CHECK(pieces_of("llama-bpe", text) == pieces_of("glm4", text));
  CHECK(pieces_of("llama3", text) == pieces_of("glm4", text));
  CHECK(pieces_of("deepseek-r1-qwen", text) == pieces_of("qwen2", text));
  CHECK(find_pre_tokenizer("llama3")->ignore_merges);
  CHECK_FALSE(find_pre_tokenizer("glm4")->ignore_merges);
  CHECK(find_pre_tokenizer("tekken") == nullptr);
  CHECK(find_pre_tokenizer("") == nullptr);
}

TEST_CASE("no text, no pieces; one character of every class, one piece") {
  for (const PreTokenizer& each : known_pre_tokenizers()) {
    CHECK(pieces_of(each.name, "").empty());
    for (const char* text : {"a", "1", " ", "\n", "'", "$", "\x01", "\xCC\x81", "\xE4\xB8\xAD", "\xF3\xA0\x80\x81"}) {
      CHECK(pieces_of(each.name, text) == std::vector<std::string>{text});
    }
  }
}

TEST_CASE("deepseek-llm's list of letters is the published one") {
  // Counted and added up from the pattern as published.
  int count = 0;
  std::uint64_t sum = 0;
  for (char32_t c = 0x80; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    const std::string text = utf8_text(c);
    if (match_listed_letters(text, 0) == 0) continue;
    ++count;
    sum += c;
  }
  CHECK(count + 52 == 2729);
  CHECK(sum + 26 * ('A' + 'Z') / 2 + 26 * ('a' + 'z') / 2 == 54770958);
  CHECK(match_listed_letters("Zz", 0) == 2);
  CHECK(match_listed_letters("_", 0) == 0);
}

TEST_CASE("white space at the end is matched from its first character only") {
  CHECK(match_trailing_whitespace("ab  ", 2) == 4);
  CHECK(match_trailing_whitespace("ab  ", 3) == 3);
  CHECK(match_trailing_whitespace("ab \xE3\x80\x80", 2) == 6);
  CHECK(match_trailing_whitespace("  ab", 0) == 0);
}

}  // namespace
}  // namespace glmhost::tokenizer
