// Names of models in the store, and the file names they stand for.
//
// A name is `base` or `base:quantisation`, each of a-z 0-9 . _ - and beginning with a letter or digit; base has at most
// 96 characters, the quantisation 32. Capitals are accepted and made small. Nothing else can be written, so a file name
// made from a name stays inside the folder: no separators, no "..", no device names of Windows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace glmhost::model_store {

struct ModelName {
  std::string base;
  std::string quantisation;  // empty: none given

  std::string text() const;       // "glm-4-9b-0414:q4_k_m"
  std::string file_stem() const;  // "glm-4-9b-0414@q4_k_m": a colon cannot stand in a file name on Windows
};

// Nothing when the text is no name.
std::optional<ModelName> parse_model_name(std::string_view text);

// The name under which a file of the store is listed: file_stem() read backwards; any other stem stands for itself.
std::string name_of_stem(std::string_view stem);

// "model-00002-of-00005" is shard 2 of 5 of "model".
struct ShardStem {
  std::string_view base;
  std::uint32_t number = 0;  // from 1
  std::uint32_t count = 0;
};
std::optional<ShardStem> parse_shard_stem(std::string_view stem);
std::string shard_stem(std::string_view base, std::uint32_t number, std::uint32_t count);

}  // namespace glmhost::model_store
