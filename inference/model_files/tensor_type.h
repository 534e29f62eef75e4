// The element types of GGUF tensors: ids, block sizes, and the reference conversion to float32.
// Block formats: ggml's, as listed in the GGUF specification; each is stated beside its decoder in dequantize.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace glmhost::model_files {

// Values are the GGUF ids.
enum class TensorType : std::uint32_t {
  F32 = 0,
  F16 = 1,
  Q4_0 = 2,
  Q4_1 = 3,
  Q5_0 = 6,
  Q5_1 = 7,
  Q8_0 = 8,
  Q2_K = 10,
  Q3_K = 11,
  Q4_K = 12,
  Q5_K = 13,
  Q6_K = 14,
  IQ4_NL = 20,
  IQ4_XS = 23,
  BF16 = 30,
};

struct TensorTypeTraits {
  TensorType type;
  std::string_view name;
  std::int64_t block_values;  // values of a row that are stored together: 1, 32 or 256
  std::int64_t block_bytes;
};

// Null for an id this version does not read.
const TensorTypeTraits* find_traits(std::uint32_t id);
const TensorTypeTraits& traits(TensorType type);

// "IQ2_XXS" for 16 and so on, also for types that are known but not supported; "type 77" for an unknown id.
std::string tensor_type_name(std::uint32_t id);

// For an id that find_traits does not know: what to take instead, ready for a sentence ("Q3_K_S or Q3_K_M").
std::string supported_instead_of(std::uint32_t id);

// Bytes of `values` consecutive values. Throws Error(bad_argument) when they are not whole blocks.
std::int64_t row_bytes(TensorType type, std::int64_t values);

// blocks: row_bytes(type, out.size()) bytes, else Error(bad_argument). Bit for bit the values of ggml's own row
// conversion, without fused multiply-add, subnormals kept. Thread-safe.
void dequantize(TensorType type, std::span<const std::byte> blocks, std::span<float> out);

float f16_to_f32(std::uint16_t half);
std::uint16_t f32_to_f16(float value);  // round to nearest even
float bf16_to_f32(std::uint16_t bits);

}  // namespace glmhost::model_files
