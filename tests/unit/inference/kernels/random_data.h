// Random inputs for the kernels' tests: reproducible, and every bit pattern that a file may hold.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "inference/model_files/tensor_type.h"

namespace glmhost::kernels::testing {

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::int64_t between(std::int64_t low, std::int64_t high) {  // both included
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  float normal() { return std::normal_distribution<float>()(engine_); }
  std::vector<float> normals(std::int64_t count, float deviation = 1) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = deviation * normal();
    return values;
  }
  std::vector<std::byte> bytes(std::size_t count) {
    std::vector<std::byte> data(count);
    for (std::byte& b : data) b = static_cast<std::byte>(engine_());
    return data;
  }

 private:
  std::mt19937 engine_;
};

inline constexpr model_files::TensorType kQuantizedTypes[] = {
    model_files::TensorType::Q4_0, model_files::TensorType::Q4_1,   model_files::TensorType::Q5_0,
    model_files::TensorType::Q5_1, model_files::TensorType::Q8_0,   model_files::TensorType::Q2_K,
    model_files::TensorType::Q3_K, model_files::TensorType::Q4_K,   model_files::TensorType::Q5_K,
    model_files::TensorType::Q6_K, model_files::TensorType::IQ4_NL, model_files::TensorType::IQ4_XS};
inline constexpr model_files::TensorType kFloatTypes[] = {model_files::TensorType::F32, model_files::TensorType::F16,
                                                          model_files::TensorType::BF16};

// Offsets of the half-precision scales and minima inside a block.
inline std::vector<std::size_t> half_offsets(model_files::TensorType type) {
  using model_files::TensorType;
  switch (type) {
    case TensorType::Q4_1:
    case TensorType::Q5_1:
    case TensorType::Q4_K:
    case TensorType::Q5_K:
      return {0, 2};
    case TensorType::Q2_K:
      return {80, 82};
    case TensorType::Q3_K:
      return {108};
    case TensorType::Q6_K:
      return {208};
    default:
      return {0};
  }
}

// Rows in GGUF's layout: random quants, scales of either sign and moderate size.
inline std::vector<std::byte> random_rows(model_files::TensorType type, std::int64_t rows, std::int64_t columns,
                                          Random& random) {
  const model_files::TensorTypeTraits& traits = model_files::traits(type);
  const auto size = static_cast<std::size_t>(rows * model_files::row_bytes(type, columns));
  if (traits.block_values == 1) {
    std::vector<std::byte> data(size);
    for (std::int64_t i = 0; i < rows * columns; ++i) {
      const float value = random.normal();
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, 4);
      const std::uint16_t half = type == model_files::TensorType::F16 ? model_files::f32_to_f16(value)
                                                                      : static_cast<std::uint16_t>(bits >> 16);
      if (type == model_files::TensorType::F32) {
        std::memcpy(data.data() + i * 4, &value, 4);
      } else {
        std::memcpy(data.data() + i * 2, &half, 2);
      }
    }
    return data;
  }
  std::vector<std::byte> data = random.bytes(size);
  for (std::size_t block = 0; block < size; block += static_cast<std::size_t>(traits.block_bytes)) {
    for (const std::size_t offset : half_offsets(type)) {
      const std::uint16_t half = model_files::f32_to_f16(random.normal() / 64);
      std::memcpy(data.data() + block + offset, &half, 2);
    }
  }
  return data;
}

}  // namespace glmhost::kernels::testing
