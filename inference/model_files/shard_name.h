// File names of split models: NAME-00001-of-00003.gguf.
#pragma once

#include <filesystem>
#include <optional>

namespace glmhost::model_files {

struct ShardName {
  int number;  // 1-based
  int count;
  // The same name with another number.
  std::filesystem::path sibling(int other_number) const;

  std::filesystem::path path;
};

// Nothing when the name has not this form, or a number outside 1..count.
std::optional<ShardName> parse_shard_name(const std::filesystem::path& path);

}  // namespace glmhost::model_files
