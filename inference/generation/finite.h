// Logits that are no numbers: what a model file with NaN or infinity among its weights gives.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "inference/error.h"
#include "inference/model_files/gguf_file.h"

namespace glmhost::generation {

// Thrown by benchmark() and validate(). Its sentence is that of explain_not_finite without a tensor.
class NotFinite : public Error {
 public:
  NotFinite();
};

// Throws NotFinite when one of the values is NaN or infinite.
void require_finite(std::span<const float> logits);

// The name of the first tensor with a weight that is NaN or infinite, in the order of the file; reads all of it. Throws
// what GgufFile::read throws.
std::optional<std::string> tensor_not_finite(const model_files::GgufFile& file);

// What is wrong with a file whose logits are not finite, and what to do. `tensor`: see tensor_not_finite.
std::string explain_not_finite(const std::optional<std::string>& tensor);

}  // namespace glmhost::generation
