#include "tests/unit/inference/tokenizer/vector_cases.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <stdexcept>

namespace glmhost::tokenizer::testing {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> folders_below(const fs::path& root) {
  std::vector<fs::path> folders;
  if (fs::is_directory(root)) {
    for (const auto& entry : fs::directory_iterator(root)) {
      if (fs::exists(entry.path() / "cases.json")) folders.push_back(entry.path());
    }
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

VectorFolder load(const fs::path& folder) {
  std::ifstream file(folder / "cases.json", std::ios::binary);
  return {folder, nlohmann::json::parse(file), Tokenizer(model_files::GgufFile::open(folder / "vocab.gguf"))};
}

// FNV-1a, 64 bit, over the ids as little-endian 32-bit numbers.
std::string checksum(const std::vector<TokenId>& ids) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const TokenId id : ids) {
    for (int shift = 0; shift < 32; shift += 8) {
      hash = (hash ^ (static_cast<std::uint32_t>(id) >> shift & 0xFF)) * 0x100000001b3u;
    }
  }
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

}  // namespace

const std::vector<VectorFolder>& vector_folders() {
  static const std::vector<VectorFolder> folders = [] {
    std::vector<VectorFolder> all;
    for (const fs::path& root :
         {fs::path(GLMHOST_TEST_DATA) / "tokenizers", fs::path(GLMHOST_SHARED_DATA) / "vectors" / "tokenizers"}) {
      for (const fs::path& folder : folders_below(root)) all.push_back(load(folder));
    }
    return all;
  }();
  return folders;
}

const VectorFolder& small_folder(std::string_view kind) {
  for (const VectorFolder& folder : vector_folders()) {
    if (folder.path.parent_path().parent_path() == fs::path(GLMHOST_TEST_DATA) && folder.kind() == kind) return folder;
  }
  throw std::runtime_error("tests/data/tokenizers has no folder for " + std::string(kind));
}

std::string input_of(const nlohmann::json& one) {
  if (one.contains("text")) return one["text"];
  std::string input;
  if (one.contains("repeat")) {
    const std::string piece = one["repeat"][0];
    for (int n = one["repeat"][1]; n > 0; --n) input += piece;
    return input;
  }
  const std::string hex = one.at("hex");
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    input += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return input;
}

std::string difference(const nlohmann::json& one, const std::string& name, const std::vector<TokenId>& ids) {
  if (one.contains(name)) {
    if (one[name] == nlohmann::json(ids)) return "";
    return name + " of " + one.dump().substr(0, 300) + " are " + nlohmann::json(ids).dump().substr(0, 300);
  }
  if (!one.contains(name + "_n")) return "";
  const bool same = one[name + "_n"] == ids.size() && one[name + "_fnv1a64"] == checksum(ids);
  return same ? "" : name + " of " + one.dump().substr(0, 300) + " are " + std::to_string(ids.size()) + " others";
}

}  // namespace glmhost::tokenizer::testing
