// Ids equal those of two other engines on every case of the vectors.
#include <doctest/doctest.h>

#include "inference/tokenizer/utf8.h"
#include "tests/unit/inference/tokenizer/vector_cases.h"

namespace glmhost::tokenizer {
namespace {

using testing::difference;
using testing::input_of;
using testing::vector_folders;
using testing::VectorFolder;

bool is_byte_pair(const VectorFolder& folder) {
  return folder.kind() != "spm";
}

bool has(const nlohmann::json& one, const std::string& name) {
  return one.contains(name) || one.contains(name + "_n");
}

TEST_CASE("the shared vectors are there") {
  if (!std::filesystem::exists(std::filesystem::path(GLMHOST_SHARED_DATA) / "vectors" / "tokenizers")) {
    MESSAGE("skipped: no ../shared beside this clone; the small copies in tests/data/tokenizers are tested");
  }
  CHECK(vector_folders().size() >= 10);
}

TEST_CASE("ids of text in all three marker modes") {
  for (const VectorFolder& folder : vector_folders()) {
    CAPTURE(folder.path.string());
    const Tokenizer& tokenizer = folder.tokenizer;
    for (const auto& one : folder.cases.at("cases")) {
      const std::string input = input_of(one);
      CHECK(difference(one, "ids", tokenizer.encode(input, Markers::user_defined)) == "");
      CHECK(difference(one, "ids_special", tokenizer.encode(input, Markers::all)) == "");
      // ids_plain is only written where it is not the same as ids.
      const std::string plain = has(one, "ids_plain") ? "ids_plain" : "ids";
      CHECK(difference(one, plain, tokenizer.encode(input, Markers::none)) == "");
    }
  }
}

TEST_CASE("ids of long words on which llama.cpp fails") {
  for (const VectorFolder& folder : vector_folders()) {
    for (const auto& one : folder.cases.value("hf_only", nlohmann::json::array())) {
      CHECK(difference(one, "ids", folder.tokenizer.encode(input_of(one), Markers::user_defined)) == "");
    }
  }
}

TEST_CASE("ids with BOS where the vocabulary asks for it") {
  for (const VectorFolder& folder : vector_folders()) {
    CAPTURE(folder.path.string());
    for (const auto& one : folder.cases.at("add_special")) {
      std::vector<TokenId> ids = folder.tokenizer.encode(input_of(one), Markers::all);
      if (folder.tokenizer.add_bos()) ids.insert(ids.begin(), folder.tokenizer.bos().value());
      CHECK(difference(one, "ids", ids) == "");
    }
  }
}

TEST_CASE("input that is not UTF-8") {
  for (const VectorFolder& folder : vector_folders()) {
    CAPTURE(folder.path.string());
    for (const auto& one : folder.cases.at("bytes")) {
      const std::string input = input_of(one);
      const auto ids = folder.tokenizer.encode(input, Markers::user_defined);
      if (!is_byte_pair(folder) || one.at("per_byte")) {
        CHECK(difference(one, "ids", ids) == "");
      }
      if (is_byte_pair(folder)) {
        CHECK(ids == folder.tokenizer.encode(replace_invalid_utf8(input), Markers::user_defined));
      }
    }
  }
}

TEST_CASE("the bytes of the ids are the text again") {
  for (const VectorFolder& folder : vector_folders()) {
    CAPTURE(folder.path.string());
    for (const auto& one : folder.cases.at("cases")) {
      const std::string input = input_of(one);
      // SentencePiece reads U+2581 as a space.
      if (!is_byte_pair(folder) && input.find("\xE2\x96\x81") != std::string::npos) continue;
      for (const Markers markers : {Markers::none, Markers::user_defined, Markers::all}) {
        const bool same = folder.tokenizer.decode(folder.tokenizer.encode(input, markers), true) == input;
        CHECK_MESSAGE(same, input.substr(0, 200));
      }
    }
  }
}

TEST_CASE("markers are found by their text") {
  for (const VectorFolder& folder : vector_folders()) {
    CAPTURE(folder.path.string());
    for (const char* list : {"special", "user_defined"}) {
      for (const auto& [text, id] : folder.cases.at(list).items()) {
        CHECK(folder.tokenizer.find(text) == id.get<TokenId>());
        CHECK(folder.tokenizer.is_control(id) == (std::string_view(list) == "special"));
      }
    }
  }
}

}  // namespace
}  // namespace glmhost::tokenizer
