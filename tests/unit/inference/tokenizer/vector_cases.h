// Reads folders of tokenizer vectors (vocab.gguf + cases.json): ids that llama.cpp's library and Hugging Face's
// tokenizers agreed on. The format is described in tests/data/tokenizers/README.md.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "inference/model_files/gguf_file.h"
#include "inference/tokenizer/tokenizer.h"

namespace glmhost::tokenizer::testing {

struct VectorFolder {
  std::filesystem::path path;
  nlohmann::json cases;
  Tokenizer tokenizer;

  std::string kind() const { return cases.at("kind"); }
};

// Every folder below tests/data/tokenizers and, where it exists, below ../shared/vectors/tokenizers.
const std::vector<VectorFolder>& vector_folders();

// The small copies only: one folder for each kind.
const VectorFolder& small_folder(std::string_view kind);

// A case's input: "text", "repeat" or "hex".
std::string input_of(const nlohmann::json& one);

// What CASES[..][NAME] says against IDS, as a sentence; empty when they agree or the case has no such result.
std::string difference(const nlohmann::json& one, const std::string& name, const std::vector<TokenId>& ids);

}  // namespace glmhost::tokenizer::testing
