// Reference conversion of every block format to float32.
//
// Compiled with -ffp-contract=off: each product and difference rounds on its own, in the order in which the reference
// rounds them, so that results are the same bits on every machine.
//
// In the layouts below d, m and dmin are IEEE halves, little-endian; "low" and "high" are the nibbles of a byte.
#include <array>
#include <bit>
#include <cstring>

#include "inference/error.h"
#include "inference/model_files/tensor_type.h"

static_assert(std::endian::native == std::endian::little, "GGUF data is little-endian and is used as it is stored");

namespace glmhost::model_files {

float f16_to_f32(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1fu;
  const std::uint32_t mantissa = half & 0x3ffu;
  if (exponent == 0) {  // zero or subnormal: mantissa * 2^-24, exact in float32
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

std::uint16_t f32_to_f16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {  // NaN: keep the upper payload bits, and make it quiet so that it stays a NaN
    return static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  }
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // 65520 and up round to infinity
  if (magnitude < 0x38800000u) {  // below 2^-14: adding 0.5 leaves the rounded count of 2^-24 in the last bits
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1u;
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}

float bf16_to_f32(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

namespace {

using Byte = unsigned char;

std::uint16_t load_u16(const Byte* at) {
  std::uint16_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::uint32_t load_u32(const Byte* at) {
  std::uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

float load_half(const Byte* at) {
  return f16_to_f32(load_u16(at));
}

// The 16 levels of IQ4_NL and IQ4_XS.
constexpr std::array<float, 16> kLevels = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

// d, qs[16]: y[j] = d * (low(qs[j]) - 8), y[j + 16] = d * (high(qs[j]) - 8)
void decode_q4_0(const Byte* block, float* y) {
  const float d = load_half(block);
  const Byte* qs = block + 2;
  for (int j = 0; j < 16; ++j) {
    y[j] = d * static_cast<float>((qs[j] & 15) - 8);
    y[j + 16] = d * static_cast<float>((qs[j] >> 4) - 8);
  }
}

// d, m, qs[16]: d * q + m
void decode_q4_1(const Byte* block, float* y) {
  const float d = load_half(block);
  const float m = load_half(block + 2);
  const Byte* qs = block + 4;
  for (int j = 0; j < 16; ++j) {
    y[j] = d * static_cast<float>(qs[j] & 15) + m;
    y[j + 16] = d * static_cast<float>(qs[j] >> 4) + m;
  }
}

// d, qh[4], qs[16]: as Q4_0 with a fifth bit, bit j of qh for y[j] and bit j + 16 for y[j + 16]: d * (q - 16)
void decode_q5_0(const Byte* block, float* y) {
  const float d = load_half(block);
  const std::uint32_t qh = load_u32(block + 2);
  const Byte* qs = block + 6;
  for (int j = 0; j < 16; ++j) {
    const int low = (qs[j] & 15) | static_cast<int>((qh >> j) & 1u) << 4;
    const int high = (qs[j] >> 4) | static_cast<int>((qh >> (j + 16)) & 1u) << 4;
    y[j] = d * static_cast<float>(low - 16);
    y[j + 16] = d * static_cast<float>(high - 16);
  }
}

// d, m, qh[4], qs[16]: d * q + m, bits as in Q5_0
void decode_q5_1(const Byte* block, float* y) {
  const float d = load_half(block);
  const float m = load_half(block + 2);
  const std::uint32_t qh = load_u32(block + 4);
  const Byte* qs = block + 8;
  for (int j = 0; j < 16; ++j) {
    const int low = (qs[j] & 15) | static_cast<int>((qh >> j) & 1u) << 4;
    const int high = (qs[j] >> 4) | static_cast<int>((qh >> (j + 16)) & 1u) << 4;
    y[j] = d * static_cast<float>(low) + m;
    y[j + 16] = d * static_cast<float>(high) + m;
  }
}

// d, int8 qs[32]: d * q
void decode_q8_0(const Byte* block, float* y) {
  const float d = load_half(block);
  const Byte* qs = block + 2;
  for (int j = 0; j < 32; ++j) y[j] = d * static_cast<float>(static_cast<std::int8_t>(qs[j]));
}

// scales[16], qs[64], d, dmin. Two halves of 128 values over 32 bytes of qs each; in a half, two-bit planes at shifts
// 0, 2, 4, 6; in a plane 16 values from bytes 0..15, then 16 from 16..31. One scale byte for 16 values, in that order:
// d * low(scale) * q - dmin * high(scale)
void decode_q2_k(const Byte* block, float* y) {
  const Byte* scales = block;
  const Byte* qs = block + 16;
  const float d = load_half(block + 80);
  const float dmin = load_half(block + 82);
  for (int group = 0; group < 16; ++group, y += 16) {
    const Byte* bytes = qs + 32 * (group / 8) + 16 * (group % 2);
    const int shift = 2 * (group % 8 / 2);
    const float scale = d * static_cast<float>(scales[group] & 15);
    const float minimum = dmin * static_cast<float>(scales[group] >> 4);
    for (int l = 0; l < 16; ++l) y[l] = scale * static_cast<float>((bytes[l] >> shift) & 3) - minimum;
  }
}

// hmask[32], qs[64], scales[12], d. Values in the order of Q2_K; bit 4 * half + plane of hmask[l] clear means minus 4.
// Six-bit scales: low nibble of byte k for k < 8, high nibble of byte k - 8 above, and two upper bits from bytes 8..11:
// d * (scale - 32) * q
void decode_q3_k(const Byte* block, float* y) {
  const Byte* hmask = block;
  const Byte* qs = block + 32;
  const Byte* scales = block + 96;
  const float d = load_half(block + 108);
  for (int group = 0; group < 16; ++group, y += 16) {
    const int low = group < 8 ? scales[group] & 15 : scales[group - 8] >> 4;
    const int high = (scales[8 + group % 4] >> (2 * (group / 4))) & 3;
    const float scale = d * static_cast<float>((low | high << 4) - 32);
    const int offset = 16 * (group % 2);
    const int plane = group % 8 / 2;
    const Byte* bytes = qs + 32 * (group / 8) + offset;
    const int mask = 1 << (4 * (group / 8) + plane);
    for (int l = 0; l < 16; ++l) {
      const int q = ((bytes[l] >> (2 * plane)) & 3) - ((hmask[offset + l] & mask) ? 0 : 4);
      y[l] = scale * static_cast<float>(q);
    }
  }
}

// The eight pairs of six-bit scale and minimum that Q4_K and Q5_K keep in 12 bytes.
struct ScaleAndMinimum {
  int scale;
  int minimum;
};

ScaleAndMinimum unpack_pair(const Byte* packed, int j) {
  if (j < 4) return {packed[j] & 63, packed[j + 4] & 63};
  return {(packed[j + 4] & 15) | (packed[j - 4] >> 6) << 4, (packed[j + 4] >> 4) | (packed[j] >> 6) << 4};
}

// d, dmin, scales[12], qs[128]. Four groups of 64 values over 32 bytes each: 32 low nibbles with pair 2g, then 32 high
// nibbles with pair 2g + 1: d * scale * q - dmin * minimum
void decode_q4_k(const Byte* block, float* y) {
  const float d = load_half(block);
  const float dmin = load_half(block + 2);
  const Byte* scales = block + 4;
  const Byte* qs = block + 16;
  for (int j = 0; j < 8; ++j, y += 32) {
    const ScaleAndMinimum pair = unpack_pair(scales, j);
    const float scale = d * static_cast<float>(pair.scale);
    const float minimum = dmin * static_cast<float>(pair.minimum);
    const Byte* bytes = qs + 32 * (j / 2);
    const int shift = 4 * (j % 2);
    for (int l = 0; l < 32; ++l) y[l] = scale * static_cast<float>((bytes[l] >> shift) & 15) - minimum;
  }
}

// d, dmin, scales[12], qh[32], qs[128]: as Q4_K with a fifth bit, bit j of qh[l] for value l of the j-th 32
void decode_q5_k(const Byte* block, float* y) {
  const float d = load_half(block);
  const float dmin = load_half(block + 2);
  const Byte* scales = block + 4;
  const Byte* qh = block + 16;
  const Byte* qs = block + 48;
  for (int j = 0; j < 8; ++j, y += 32) {
    const ScaleAndMinimum pair = unpack_pair(scales, j);
    const float scale = d * static_cast<float>(pair.scale);
    const float minimum = dmin * static_cast<float>(pair.minimum);
    const Byte* bytes = qs + 32 * (j / 2);
    const int shift = 4 * (j % 2);
    for (int l = 0; l < 32; ++l) {
      const int q = ((bytes[l] >> shift) & 15) | ((qh[l] >> j) & 1) << 4;
      y[l] = scale * static_cast<float>(q) - minimum;
    }
  }
}

// ql[128], qh[64], int8 scales[16], d. Two halves of 128 values (64 bytes of ql, 32 of qh, 8 scales each); quarter k of
// a half takes low (k < 2) or high nibbles of ql[32 * (k % 2) + l] and bits 2k, 2k + 1 of qh[l]: d * scale * (q - 32)
void decode_q6_k(const Byte* block, float* y) {
  const float d = load_half(block + 208);
  for (int quarter = 0; quarter < 8; ++quarter, y += 32) {
    const int half = quarter / 4;
    const int k = quarter % 4;
    const Byte* ql = block + 64 * half + 32 * (k % 2);
    const Byte* qh = block + 128 + 32 * half;
    const Byte* scales = block + 192 + 8 * half + 2 * k;
    for (int l = 0; l < 32; ++l) {
      const int q = ((ql[l] >> (4 * (k / 2))) & 15) | ((qh[l] >> (2 * k)) & 3) << 4;
      const float scale = d * static_cast<float>(static_cast<std::int8_t>(scales[l / 16]));
      y[l] = scale * static_cast<float>(q - 32);
    }
  }
}

// d, qs[16]: d * level, order of Q4_0
void decode_iq4_nl(const Byte* block, float* y) {
  const float d = load_half(block);
  const Byte* qs = block + 2;
  for (int j = 0; j < 16; ++j) {
    y[j] = d * kLevels[qs[j] & 15];
    y[j + 16] = d * kLevels[qs[j] >> 4];
  }
}

// d, scales_h (two bytes), scales_l[4], qs[128]: eight sub-blocks of 32 in the order of IQ4_NL, each with a six-bit
// scale of which scales_l holds the low nibbles: d * (scale - 32) * level
void decode_iq4_xs(const Byte* block, float* y) {
  const float d = load_half(block);
  const unsigned scales_h = load_u16(block + 2);
  const Byte* scales_l = block + 4;
  const Byte* qs = block + 8;
  for (int sub = 0; sub < 8; ++sub, y += 32, qs += 16) {
    const int low = (scales_l[sub / 2] >> (4 * (sub % 2))) & 15;
    const int high = static_cast<int>((scales_h >> (2 * sub)) & 3u);
    const float scale = d * static_cast<float>((low | high << 4) - 32);
    for (int j = 0; j < 16; ++j) {
      y[j] = scale * kLevels[qs[j] & 15];
      y[j + 16] = scale * kLevels[qs[j] >> 4];
    }
  }
}

template <typename Decode>
void decode_blocks(const TensorTypeTraits& type, const Byte* blocks, std::span<float> out, Decode decode) {
  for (std::size_t at = 0; at < out.size(); at += static_cast<std::size_t>(type.block_values)) {
    decode(blocks, out.data() + at);
    blocks += type.block_bytes;
  }
}

}  // namespace

void dequantize(TensorType type, std::span<const std::byte> blocks, std::span<float> out) {
  const std::int64_t expected = row_bytes(type, static_cast<std::int64_t>(out.size()));
  const TensorTypeTraits& known = traits(type);
  if (blocks.size() != static_cast<std::uint64_t>(expected)) {
    throw Error(ErrorKind::bad_argument, std::to_string(out.size()) + " values of " + std::string(known.name) +
                                             " take " + std::to_string(expected) + " bytes, but " +
                                             std::to_string(blocks.size()) + " were given.");
  }
  if (out.empty()) return;
  const Byte* bytes = reinterpret_cast<const Byte*>(blocks.data());
  switch (type) {
    case TensorType::F32:
      std::memcpy(out.data(), bytes, out.size_bytes());
      return;
    case TensorType::F16:
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = load_half(bytes + 2 * i);
      return;
    case TensorType::BF16:
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = bf16_to_f32(load_u16(bytes + 2 * i));
      return;
    case TensorType::Q4_0:
      return decode_blocks(known, bytes, out, decode_q4_0);
    case TensorType::Q4_1:
      return decode_blocks(known, bytes, out, decode_q4_1);
    case TensorType::Q5_0:
      return decode_blocks(known, bytes, out, decode_q5_0);
    case TensorType::Q5_1:
      return decode_blocks(known, bytes, out, decode_q5_1);
    case TensorType::Q8_0:
      return decode_blocks(known, bytes, out, decode_q8_0);
    case TensorType::Q2_K:
      return decode_blocks(known, bytes, out, decode_q2_k);
    case TensorType::Q3_K:
      return decode_blocks(known, bytes, out, decode_q3_k);
    case TensorType::Q4_K:
      return decode_blocks(known, bytes, out, decode_q4_k);
    case TensorType::Q5_K:
      return decode_blocks(known, bytes, out, decode_q5_k);
    case TensorType::Q6_K:
      return decode_blocks(known, bytes, out, decode_q6_k);
    case TensorType::IQ4_NL:
      return decode_blocks(known, bytes, out, decode_iq4_nl);
    case TensorType::IQ4_XS:
      return decode_blocks(known, bytes, out, decode_iq4_xs);
  }
}

}  // namespace glmhost::model_files
