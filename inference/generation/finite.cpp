#include "inference/generation/finite.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace glmhost::generation {

namespace {

constexpr std::int64_t kRowsAtOnce = 64;

bool all_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
}

bool is_finite(const model_files::GgufFile& file, const model_files::TensorInfo& tensor) {
  const std::uint64_t row_bytes = tensor.bytes / static_cast<std::uint64_t>(tensor.rows());
  std::vector<std::byte> blocks;
  std::vector<float> values;
  for (std::int64_t row = 0; row < tensor.rows(); row += kRowsAtOnce) {
    const auto count = static_cast<std::uint64_t>(std::min(kRowsAtOnce, tensor.rows() - row));
    blocks.resize(count * row_bytes);
    values.resize(count * static_cast<std::uint64_t>(tensor.columns()));
    file.read(tensor, static_cast<std::uint64_t>(row) * row_bytes, blocks);
    model_files::dequantize(tensor.type, blocks, values);
    if (!all_finite(values)) return false;
  }
  return true;
}

}  // namespace

NotFinite::NotFinite() : Error(ErrorKind::bad_file, explain_not_finite(std::nullopt)) {}

void require_finite(std::span<const float> logits) {
  if (!all_finite(logits)) throw NotFinite();
}

std::optional<std::string> tensor_not_finite(const model_files::GgufFile& file) {
  for (const model_files::TensorInfo& tensor : file.tensors()) {
    if (!is_finite(file, tensor)) return tensor.name;
  }
  return std::nullopt;
}

std::string explain_not_finite(const std::optional<std::string>& tensor) {
  return "The model gives logits that are no finite numbers (NaN or infinity): the weights in its file are " +
         (tensor ? "not finite, in the tensor `" + *tensor + "` first of all."
                 : std::string("not finite, or so large that sums of them overflow.")) +
         " The file is damaged or was converted wrongly: fetch it again (`glm pull --replace`), compare its SHA-256 "
         "with "
         "the publisher's, or take another model.";
}

}  // namespace glmhost::generation
