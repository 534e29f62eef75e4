#include <doctest/doctest.h>

#include <random>
#include <string>

#include "inference/tokenizer/tokenizer.h"
#include "inference/tokenizer/utf8.h"
#include "tests/unit/inference/tokenizer/vector_cases.h"

namespace glmhost::tokenizer {
namespace {

TEST_CASE("a character that comes in pieces is shown when it is whole") {
  Utf8Stream stream;
  CHECK(stream.push("a\xF0\x9F") == "a");
  CHECK(stream.push("\x98") == "");
  CHECK(stream.push("\x80z") == "\xF0\x9F\x98\x80z");
  CHECK(stream.finish() == "");
}

TEST_CASE("bytes that can never become a character are replaced at once") {
  Utf8Stream stream;
  CHECK(stream.push("\xFF") == "\xEF\xBF\xBD");
  CHECK(stream.push("\xE4\xB8") == "");
  CHECK(stream.push("A") ==
        "\xEF\xBF\xBD\xEF\xBF\xBD"
        "A");
  CHECK(stream.push("\xED\xA0") == "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST_CASE("an unfinished character is replaced at the end, and the stream can be used again") {
  Utf8Stream stream;
  CHECK(stream.push("x\xE2\x82") == "x");
  CHECK(stream.finish() == "\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(stream.finish() == "");
  CHECK(stream.push("\xAC") == "\xEF\xBF\xBD");
}

TEST_CASE("however bytes are cut, the stream gives the same text, valid after every piece") {
  std::mt19937 random(1);
  const std::string alphabet = "ab\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80\xFF\xED\xA0\xC0";
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (int n = 0; n < 24; ++n) bytes += alphabet[random() % alphabet.size()];
    Utf8Stream stream;
    std::string shown;
    std::size_t given = 0;
    while (given < bytes.size()) {
      const std::size_t size = std::min<std::size_t>(random() % 5, bytes.size() - given);
      const std::string piece = stream.push(std::string_view(bytes).substr(given, size));
      given += size;
      REQUIRE(is_valid_utf8(piece));
      shown += piece;
      // At most three bytes are held back: what is shown is the text of at least all others.
      const std::string all = replace_invalid_utf8(std::string_view(bytes).substr(0, given));
      REQUIRE(all.size() - shown.size() <= 3 * kReplacementCharacter.size());
    }
    shown += stream.finish();
    REQUIRE(shown == replace_invalid_utf8(bytes));
  }
}

TEST_CASE("an answer streamed token by token is the answer") {
  for (const testing::VectorFolder& folder : testing::vector_folders()) {
    const std::string answer = "\xF0\x9F\x91\x8D\xF0\x9F\x8F\xBD \xE4\xBD\xA0\xE5\xA5\xBD, h\xC3\xA9llo \xE0\xA4\xA8";
    Utf8Stream stream;
    std::string shown;
    for (const TokenId id : folder.tokenizer.encode(answer, Markers::none)) {
      const std::string piece = stream.push(folder.tokenizer.bytes(id));
      CHECK(is_valid_utf8(piece));
      shown += piece;
    }
    CHECK(shown + stream.finish() == answer);
  }
}

}  // namespace
}  // namespace glmhost::tokenizer
