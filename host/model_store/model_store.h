// The folder of model files: which models there are, by which name, and where a name comes from.
//
// Thread rules: const members from any thread; the folder is read at each call, so models that were just pulled or
// deleted are seen.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace glmhost::model_store {

inline constexpr std::string_view kDefaultModel = "smollm2-135m";

struct StoredModel {
  std::string name;              // "smollm2-135m", "glm-4-9b-0414:q4_k_m"
  std::filesystem::path path;    // of the first shard
  std::uint64_t bytes = 0;       // all shards
};

class ModelStore {
 public:
  explicit ModelStore(std::filesystem::path folder);  // made when absent

  const std::filesystem::path& folder() const { return folder_; }
  std::vector<StoredModel> list() const;  // sorted by name; unfinished downloads are left out

  // What a person may write after -m: a name in the store, or a path to a .gguf file. Throws std::runtime_error with a
  // sentence naming near names and how to pull.
  StoredModel resolve(std::string_view name_or_path) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace glmhost::model_store
