// Files that are damaged or of a kind that is not known: each gives a sentence that says what is wrong.
#include <doctest/doctest.h>

#include <limits>

#include "inference/error.h"
#include "tests/unit/inference/tokenizer/vocabulary_files.h"

namespace glmhost::tokenizer {
namespace {

using testing::byte_level_file;
using testing::sentence_piece_file;
using testing::VocabularyFile;

struct Refusal {
  std::optional<ErrorKind> kind;
  std::string sentence;
};

Refusal refusal(const VocabularyFile& file) {
  try {
    testing::open(file);
  } catch (const Error& error) {
    return {error.kind(), error.what()};
  }
  return {};
}

void check_says(const Refusal& refused, const std::string& what) {
  CHECK_MESSAGE(refused.sentence.find(what) != std::string::npos, refused.sentence);
  CHECK_MESSAGE(refused.sentence.find("vocabulary.gguf") != std::string::npos, refused.sentence);
}

TEST_CASE("no tokenizer, or one of another kind") {
  auto file = byte_level_file("gpt-2");
  file.model = "";
  CHECK(refusal(file).kind == ErrorKind::bad_file);
  check_says(refusal(file), "has no tokenizer");
  file.model = "none";
  CHECK(refusal(file).kind == ErrorKind::bad_file);
  file.model = "bert";
  CHECK(refusal(file).kind == ErrorKind::unsupported);
  check_says(refusal(file), "\"bert\"");
}

TEST_CASE("a pre-tokeniser that is not known, or none") {
  auto file = byte_level_file("tekken");
  CHECK(refusal(file).kind == ErrorKind::unsupported);
  check_says(refusal(file), "\"tekken\"");
  check_says(refusal(file), "glm4");
  file.pre = "";
  CHECK(refusal(file).kind == ErrorKind::unsupported);
  check_says(refusal(file), "tokenizer.ggml.pre");
}

TEST_CASE("a list that is missing or has another length") {
  auto file = byte_level_file("gpt-2");
  file.merges.reset();
  CHECK(refusal(file).kind == ErrorKind::bad_file);
  check_says(refusal(file), "tokenizer.ggml.merges");

  file = byte_level_file("gpt-2");
  file.types.pop_back();
  CHECK(refusal(file).kind == ErrorKind::bad_file);
  check_says(refusal(file), "256 tokens but 255 token types");

  file = byte_level_file("gpt-2");
  file.tokens.clear();
  file.types.clear();
  CHECK(refusal(file).kind == ErrorKind::bad_file);
  check_says(refusal(file), "no list of tokens");

  auto spm = sentence_piece_file();
  spm.scores.pop_back();
  CHECK(refusal(spm).kind == ErrorKind::bad_file);
  check_says(refusal(spm), "a score for each of its 259 tokens");
  spm.scores.clear();
  check_says(refusal(spm), "a score for each of its 259 tokens");
  spm = sentence_piece_file();
  spm.scores[7] = std::numeric_limits<float>::quiet_NaN();
  CHECK(refusal(spm).kind == ErrorKind::bad_file);
}

TEST_CASE("a special token beyond the end of the list") {
  for (const char* key : {"bos_token_id", "eos_token_id", "eot_token_id", "eom_token_id", "unknown_token_id"}) {
    auto file = byte_level_file("gpt-2");
    file.ids = {{key, 256}};
    CHECK(refusal(file).kind == ErrorKind::bad_file);
    check_says(refusal(file), key);
    file.ids = {{key, 255}};
    CHECK_FALSE(refusal(file).kind);
  }
}

TEST_CASE("odd lists that are read all the same") {
  auto file = byte_level_file("gpt-2");
  const TokenId ab = file.add("ab");
  file.add("ab");            // again
  file.add("");              // nothing
  file.add("", 3);           // a control token without a text
  file.add("\xFF\xFE");      // not UTF-8
  file.add("\xE4\xB8\xAD");  // no byte-level spelling
  file.add("[PAD]", 5);
  file.types[0] = 0;
  file.types[1] = 99;
  file.types[2] = -1;
  file.merges = {{"", " ", "  ", "a", "a b c", "x y", "a  b", " b", "a ", "no such", "\xFF \xFE", "a b", "a b"}};
  const Tokenizer tokenizer = testing::open(file);
  CHECK(tokenizer.encode("abxy", Markers::all) == std::vector<TokenId>{ab, 'x', 'y'});
  CHECK(tokenizer.bytes(ab + 2).empty());
  CHECK(tokenizer.bytes(ab + 4) == "\xFF\xFE");
  CHECK(tokenizer.bytes(ab + 5) == "\xE4\xB8\xAD");
  CHECK(tokenizer.bytes(ab + 6).empty());
  CHECK(tokenizer.bytes(0) == std::string_view("\0", 1));

  auto no_types = byte_level_file("gpt-2");
  no_types.types.clear();
  CHECK(testing::open(no_types).encode("a", Markers::all) == std::vector<TokenId>{'a'});

  auto spm = sentence_piece_file();
  spm.add("<0x-1>", 6);
  spm.add("<0xGG>", 6);
  spm.add("", 6);
  spm.scores[5] = std::numeric_limits<float>::infinity();
  spm.scores[6] = -std::numeric_limits<float>::infinity();
  spm.add_space_prefix = false;
  CHECK(testing::open(spm).encode("a", Markers::all) == std::vector<TokenId>{3 + 'a'});
  CHECK(testing::open(spm).bytes(259) == "<0x-1>");
}

}  // namespace
}  // namespace glmhost::tokenizer
