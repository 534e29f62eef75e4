// The folder of model files: which models there are, by which name, and where a name comes from.
//
// Every .gguf file in the folder is a model, also one that a person put there; shards (name-00001-of-00003.gguf ...)
// are one model. Names are compared without regard to ASCII case.
//
// Thread rules: const members from any thread; the folder is read at each call, so models that were just pulled or
// deleted are seen.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace glmhost::model_store {

inline constexpr std::string_view kDefaultModel = "smollm2-135m";

struct StoredModel {
  std::string name;            // "smollm2-135m", "glm-4-9b-0414:q4_k_m"; for a path: the absolute path
  std::filesystem::path path;  // of the first shard
  std::uint64_t bytes = 0;     // all shards
};

// Whether what a person writes after -m is the path of a file, and not a name in the store.
bool is_model_path(std::string_view text);

// what() is a whole sentence that says what to do.
class NoSuchModel : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class ModelStore {
 public:
  // The folder is made when absent; where it cannot be (a read-only home), the store is empty until a pull, which says
  // why.
  explicit ModelStore(std::filesystem::path folder);

  const std::filesystem::path& folder() const { return folder_; }
  std::vector<StoredModel> list() const;  // sorted by name; unfinished downloads are left out

  // What a person may write after -m: a name in the store, or a path to a .gguf file. A name without quantisation
  // stands for the only one stored, or for the catalogue's first choice among several. Empty: kDefaultModel where it is
  // stored, else the only model there is.
  // Throws NoSuchModel with a sentence naming near names and how to pull.
  StoredModel resolve(std::string_view name_or_path) const;

 private:
  StoredModel resolve_unnamed() const;
  StoredModel resolve_path(std::string_view text) const;

  std::filesystem::path folder_;
};

}  // namespace glmhost::model_store
