// A megabyte of anything is turned into tokens in linear time. There is no clock here: with one quadratic step each of
// these would take an hour.
#include <doctest/doctest.h>

#include <random>

#include "inference/tokenizer/utf8.h"
#include "tests/unit/inference/tokenizer/vector_cases.h"
#include "tests/unit/sanitizers.h"

namespace glmhost::tokenizer {
namespace {

constexpr std::size_t kMegabyte = test::kSanitized ? 1 << 16 : 1 << 20;

std::string repeated(std::string_view piece) {
  std::string text;
  while (text.size() < kMegabyte) text += piece;
  return text;
}

std::string random_letters() {
  std::mt19937 random(9);
  std::string text(kMegabyte, ' ');
  for (char& c : text) c = static_cast<char>('a' + random() % 26);
  return text;
}

std::string random_bytes() {
  std::mt19937 random(9);
  std::string text(kMegabyte, ' ');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

// Whether the ids of TEXT write it again. In kinds other than these three, which between them hold every sort of step,
// a part of it is enough.
void check_round_trip(const std::string& text) {
  const auto& kinds = {"gpt-2",       "smollm", "llama-bpe",    "qwen2", "deepseek-coder",
                       "deepseek-v3", "glm4",   "deepseek-llm", "spm"};
  for (const std::string_view kind : kinds) {
    CAPTURE(kind);
    const bool whole = kind == "glm4" || kind == "deepseek-llm" || kind == "spm";
    const std::string part = whole ? text : text.substr(0, kMegabyte / 16);
    const Tokenizer& tokenizer = testing::small_folder(kind).tokenizer;
    const bool same = tokenizer.decode(tokenizer.encode(part, Markers::all), true) ==
                      (kind == "spm" ? part : replace_invalid_utf8(part));
    CHECK(same);
  }
}

TEST_CASE("one word of a megabyte") {
  check_round_trip(repeated("a"));
  check_round_trip(random_letters());
}

TEST_CASE("a megabyte of white space") {
  check_round_trip(repeated(" "));
  check_round_trip(repeated("\n"));
  check_round_trip(repeated(" \n"));
  check_round_trip(repeated("\xE3\x80\x80") + "x");  // ideographic spaces, not at the end
  std::string text = repeated(" \t");
  text += "x";
  check_round_trip(text + repeated(" "));
}

TEST_CASE("a megabyte of digits, of Chinese, of emoji, of punctuation") {
  check_round_trip(repeated("1"));
  check_round_trip(repeated("\xE4\xBD\xA0\xE5\xA5\xBD"));
  check_round_trip(repeated("\xF0\x9F\x91\x8D\xF0\x9F\x8F\xBD\xE2\x80\x8D"));
  check_round_trip(repeated("!"));
  check_round_trip(repeated("\x01"));
}

TEST_CASE("a megabyte of markers and of their beginnings") {
  check_round_trip(repeated("<|user|>"));
  check_round_trip(repeated("<|user|"));
  check_round_trip(repeated("<"));
}

TEST_CASE("a megabyte that is not UTF-8") {
  check_round_trip(repeated("\xFF"));
  check_round_trip(repeated("\xF0\x9F\x98"));
  // A stray byte takes its neighbours along in SentencePiece, spaces too, which are not the same text again.
  const std::string text = random_bytes();
  for (const char* kind : {"glm4", "deepseek-llm"}) {
    const Tokenizer& tokenizer = testing::small_folder(kind).tokenizer;
    const bool same = tokenizer.decode(tokenizer.encode(text, Markers::none)) == replace_invalid_utf8(text);
    CHECK(same);
  }
  CHECK(testing::small_folder("spm").tokenizer.encode(text, Markers::all).size() > kMegabyte / 2);
}

TEST_CASE("a hundred thousand parts") {
  const testing::VectorFolder& folder = testing::small_folder("glm4");
  std::vector<TextPart> parts(100000, {"a ", Markers::all});
  const auto ids = folder.tokenizer.encode(parts);
  CHECK(folder.tokenizer.decode(ids).size() == 200000);
}

}  // namespace
}  // namespace glmhost::tokenizer
