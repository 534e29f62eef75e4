// Writes vocabulary-only GGUF files for tests: sound ones, and ones with a single thing wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/tokenizer/tokenizer.h"

namespace glmhost::tokenizer::testing {

// The metadata that a tokenizer reads. What is empty is left out of the file.
struct VocabularyFile {
  std::string model = "gpt2";
  std::string pre = "gpt-2";
  std::vector<std::string> tokens;
  std::vector<std::int32_t> types;
  std::vector<float> scores;
  std::optional<std::vector<std::string>> merges;
  std::vector<std::pair<std::string, std::uint32_t>> ids;  // "bos_token_id", 1
  std::optional<bool> add_bos;
  std::optional<bool> add_space_prefix;

  std::int32_t add(std::string_view text, int type = 1, float score = 0);  // the new token's id
};

// All 256 bytes in GPT-2's spelling as ids 0 to 255, no merges.
VocabularyFile byte_level_file(std::string_view pre);

// <unk>, <s>, </s> and the byte tokens <0x00> to <0xFF> as ids 3 to 258.
VocabularyFile sentence_piece_file();

Tokenizer open(const VocabularyFile& file);

}  // namespace glmhost::tokenizer::testing
