// Reading a model's hyper-parameters from the GGUF metadata, each within its range.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "inference/architectures/model.h"

namespace glmhost::architectures {

// Keys of one architecture: "block_count" stands for "glm4.block_count". Every getter throws Error(bad_file) naming the
// key, its value and its range.
class MetadataReader {
 public:
  explicit MetadataReader(const model_files::GgufFile& file) : file_(file), architecture_(file.architecture()) {}

  const model_files::GgufFile& file() const { return file_; }
  const std::string& architecture() const { return architecture_; }
  std::string full(std::string_view key) const { return architecture_ + "." + std::string(key); }

  // A key that holds one value a layer counts as that value when all layers agree, else Error(unsupported).
  std::optional<std::int64_t> find_integer(std::string_view key, std::int64_t least, std::int64_t most) const;
  std::int64_t integer(std::string_view key, std::int64_t least, std::int64_t most) const;  // must be there
  std::optional<double> find_number(std::string_view key, double least, double most) const;
  double number(std::string_view key, double least, double most) const;

  // Error(unsupported) when the key is there with another value: it would change the equations.
  void refuse_unless(std::string_view key, double neutral) const;

 private:
  const model_files::GgufFile& file_;
  std::string architecture_;
};

// What all families share. Throws Error: bad_file, unsupported.
Hyperparameters read_hyperparameters(const MetadataReader& metadata);

}  // namespace glmhost::architectures
