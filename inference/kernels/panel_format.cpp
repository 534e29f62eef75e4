#include "inference/kernels/panel_format.h"

#include <algorithm>
#include <cstring>

namespace glmhost::kernels {
namespace {

using model_files::TensorType;

template <class T>
T read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void write(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

// A row's 32 quants of a block, four to a word: byte i of word g is column 4 g + i.
using Words = std::array<std::uint32_t, kBlockGroups>;

constexpr std::uint32_t kOnes = 0x01010101, kTwos = 0x03030303, kNibbles = 0x0F0F0F0F;

// Bits 0..3 of x to bit 0 of bytes 0..3.
constexpr std::uint32_t spread(std::uint32_t x) {
  return ((x & 15) * 0x00204081) & kOnes;
}

// --- GGUF blocks to words. `block` counts the blocks of 32 inside a K block of 256.

Words nibbles_16(const std::byte* qs) {  // 16 bytes: low nibbles are columns 0..15, high ones 16..31
  Words w{};
  for (std::size_t g = 0; g < 4; ++g) {
    const auto word = read<std::uint32_t>(qs + 4 * g);
    w[g] = word & kNibbles;
    w[g + 4] = word >> 4 & kNibbles;
  }
  return w;
}

void add_high_bits(Words& w, std::uint32_t bits) {  // bit j is bit 4 of column j
  for (std::size_t g = 0; g < 8; ++g) w[g] |= spread(bits >> 4 * g) << 4;
}

Words q8_0(const std::byte* qs) {
  Words w{};
  for (std::size_t g = 0; g < 8; ++g) w[g] = read<std::uint32_t>(qs + 4 * g) ^ 0x80808080;
  return w;
}

Words twos(const std::byte* qs, int block) {
  Words w{};
  for (std::size_t g = 0; g < 8; ++g) {
    w[g] = read<std::uint32_t>(qs + 32 * (block / 4) + 4 * g) >> 2 * (block % 4) & kTwos;
  }
  return w;
}

Words q3_k(const std::byte* qs, const std::byte* hmask, int block) {
  Words w = twos(qs, block);
  for (std::size_t g = 0; g < 8; ++g) w[g] |= (read<std::uint32_t>(hmask + 4 * g) >> block & kOnes) << 2;
  return w;
}

Words q4_k(const std::byte* qs, int block) {
  Words w{};
  for (std::size_t g = 0; g < 8; ++g) {
    w[g] = read<std::uint32_t>(qs + 32 * (block / 2) + 4 * g) >> 4 * (block % 2) & kNibbles;
  }
  return w;
}

Words q5_k(const std::byte* qs, const std::byte* qh, int block) {
  Words w = q4_k(qs, block);
  for (std::size_t g = 0; g < 8; ++g) w[g] |= (read<std::uint32_t>(qh + 4 * g) >> block & kOnes) << 4;
  return w;
}

Words q6_k(const std::byte* ql, const std::byte* qh, int block) {
  const int half = block / 4;
  const int j = block % 4;
  Words w{};
  for (std::size_t g = 0; g < 8; ++g) {
    const auto low = read<std::uint32_t>(ql + 64 * half + 32 * (j % 2) + 4 * g);
    const auto high = read<std::uint32_t>(qh + 32 * half + 4 * g);
    w[g] = (low >> 4 * (j / 2) & kNibbles) | (high >> 2 * j & kTwos) << 4;
  }
  return w;
}

// --- words to lines and back

constexpr bool has_nibbles(int bits) {
  return bits == 4 || bits == 5 || bits == 6;
}
constexpr bool has_twos(int bits) {
  return bits == 2 || bits == 3 || bits == 6;
}
constexpr bool has_ones(int bits) {
  return bits == 3 || bits == 5;
}

std::byte* word_at(std::byte* lines, int line, int row) {
  return lines + line * kLineBytes + row * 4;
}

void put_words(const Words& w, int bits, std::byte* lines, int row) {
  if (bits == 8) {
    for (std::size_t g = 0; g < 8; ++g) write(word_at(lines, static_cast<int>(g), row), w[g]);
    return;
  }
  int line = 0;
  int shift = 0;
  if (has_nibbles(bits)) {
    for (std::size_t g = 0; g < 4; ++g) {
      write(word_at(lines, line++, row), (w[g] & kNibbles) | (w[g + 4] & kNibbles) << 4);
    }
    shift = 4;
  }
  if (has_twos(bits)) {
    for (std::size_t j = 0; j < 2; ++j) {
      std::uint32_t word = 0;
      for (std::size_t i = 0; i < 4; ++i) word |= (w[4 * j + i] >> shift & kTwos) << 2 * i;
      write(word_at(lines, line++, row), word);
    }
    shift += 2;
  }
  if (has_ones(bits)) {
    std::uint32_t word = 0;
    for (std::size_t g = 0; g < 8; ++g) word |= (w[g] >> shift & kOnes) << g;
    write(word_at(lines, line, row), word);
  }
}

Words get_words(int bits, const std::byte* lines, int row) {
  const auto word = [&](std::size_t line) {
    return read<std::uint32_t>(lines + static_cast<std::int64_t>(line) * kLineBytes + row * 4);
  };
  Words w{};
  for (std::size_t g = 0; g < 8; ++g) {
    std::size_t line = 0;
    int shift = 0;
    if (bits == 8) {
      w[g] = word(g);
      continue;
    }
    if (has_nibbles(bits)) {
      w[g] = word(g % 4) >> 4 * (g / 4) & kNibbles;
      line = 4;
      shift = 4;
    }
    if (has_twos(bits)) {
      w[g] |= (word(line + g / 4) >> 2 * (g % 4) & kTwos) << shift;
      line += 2;
      shift += 2;
    }
    if (has_ones(bits)) w[g] |= (word(line) >> g & kOnes) << shift;
  }
  return w;
}

// --- scales

std::byte byte_of(int value) {
  return static_cast<std::byte>(static_cast<std::uint8_t>(value));
}

// A half of the header: 32 bytes for each `index`.
void put_half(std::byte* header, int index, int row, const std::byte* half) {
  std::memcpy(header + 32 * index + 2 * row, half, 2);
}

constexpr std::int64_t kSubScales = 64;  // where a K group's bytes begin

void put_byte(std::byte* header, int index, int row, std::byte value) {
  header[kSubScales + 16 * index + row] = value;
}

// Q4_K and Q5_K: 8 pairs of six bits in 12 bytes.
void put_k_pairs(const std::byte* packed, std::byte* header, int row) {
  const auto b = [&](int i) { return std::to_integer<int>(packed[i]); };
  for (int j = 0; j < 8; ++j) {
    const int scale = j < 4 ? b(j) & 63 : (b(j + 4) & 15) | (b(j - 4) >> 6) << 4;
    const int minimum = j < 4 ? b(j + 4) & 63 : b(j + 4) >> 4 | (b(j) >> 6) << 4;
    put_byte(header, j, row, byte_of(scale));
    put_byte(header, 8 + j, row, byte_of(minimum));
  }
}

// Q3_K: 16 numbers of six bits in 12 bytes, moved by 32.
void put_q3_scales(const std::byte* packed, std::byte* header, int row) {
  const auto b = [&](int i) { return std::to_integer<int>(packed[i]); };
  for (int k = 0; k < 16; ++k) {
    const int low = k < 8 ? b(k) & 15 : b(k - 8) >> 4;
    const int high = b(8 + k % 4) >> 2 * (k / 4) & 3;
    put_byte(header, k, row, byte_of((low | high << 4) - 32));
  }
}

void put_iq4_xs_scales(const std::byte* block, std::byte* header, int row) {
  const auto high = read<std::uint16_t>(block + 2);
  for (int k = 0; k < 8; ++k) {
    const int low = std::to_integer<int>(block[4 + k / 2]) >> 4 * (k % 2) & 15;
    put_byte(header, k, row, byte_of((low | (high >> 2 * k & 3) << 4) - 32));
  }
}

// A block of 32 of the simple types; `index` is its place in the group.
void pack_simple(TensorType type, const std::byte* src, std::byte* group, int index, int row) {
  const PanelFormat format = panel_format(type);
  std::byte* lines = group + format.header_bytes + index * format.bits * kLineBytes;
  put_half(group, index, row, src);
  Words w{};
  switch (type) {
    case TensorType::Q4_0:
    case TensorType::IQ4_NL:
      w = nibbles_16(src + 2);
      break;
    case TensorType::Q4_1:
      put_half(group, 1, row, src + 2);
      w = nibbles_16(src + 4);
      break;
    case TensorType::Q5_0:
      w = nibbles_16(src + 6);
      add_high_bits(w, read<std::uint32_t>(src + 2));
      break;
    case TensorType::Q5_1:
      put_half(group, 1, row, src + 2);
      w = nibbles_16(src + 8);
      add_high_bits(w, read<std::uint32_t>(src + 4));
      break;
    default:  // Q8_0
      w = q8_0(src + 2);
      break;
  }
  put_words(w, format.bits, lines, row);
}

void pack_k(TensorType type, const std::byte* src, std::byte* group, int row) {
  const PanelFormat format = panel_format(type);
  switch (type) {
    case TensorType::Q2_K:
      put_half(group, 0, row, src + 80);
      put_half(group, 1, row, src + 82);
      for (int k = 0; k < 16; ++k) put_byte(group, k, row, src[k]);
      break;
    case TensorType::Q3_K:
      put_half(group, 0, row, src + 108);
      put_q3_scales(src + 96, group, row);
      break;
    case TensorType::Q4_K:
    case TensorType::Q5_K:
      put_half(group, 0, row, src);
      put_half(group, 1, row, src + 2);
      put_k_pairs(src + 4, group, row);
      break;
    case TensorType::Q6_K:
      put_half(group, 0, row, src + 208);
      for (int k = 0; k < 16; ++k) put_byte(group, k, row, src[192 + k]);
      break;
    default:  // IQ4_XS
      put_half(group, 0, row, src);
      put_iq4_xs_scales(src, group, row);
      break;
  }
  for (int block = 0; block < 8; ++block) {
    Words w{};
    switch (type) {
      case TensorType::Q2_K:
        w = twos(src + 16, block);
        break;
      case TensorType::Q3_K:
        w = q3_k(src + 32, src, block);
        break;
      case TensorType::Q4_K:
        w = q4_k(src + 16, block);
        break;
      case TensorType::Q5_K:
        w = q5_k(src + 48, src + 16, block);
        break;
      case TensorType::Q6_K:
        w = q6_k(src, src + 128, block);
        break;
      default:  // IQ4_XS
        w = nibbles_16(src + 8 + 16 * block);
        break;
    }
    put_words(w, format.bits, group + format.header_bytes + block * format.bits * kLineBytes, row);
  }
}

float half_at(const std::byte* header, int index, int row) {
  return model_files::f16_to_f32(read<std::uint16_t>(header + 32 * index + 2 * row));
}

int value_bytes(TensorType type) {
  return type == TensorType::F32 ? 4 : 2;
}

}  // namespace

std::size_t panel_bytes(TensorType type, std::int64_t columns) {
  const PanelFormat format = panel_format(type);
  if (format.bits == 0) {
    const std::int64_t bytes = columns * kPanelRows * value_bytes(type);
    return static_cast<std::size_t>((bytes + kLineBytes - 1) / kLineBytes * kLineBytes);
  }
  const std::int64_t group_columns = format.group_blocks * kBlock;
  return static_cast<std::size_t>((columns + group_columns - 1) / group_columns * format.group_bytes());
}

void pack_row(TensorType type, std::int64_t columns, const std::byte* gguf_row, std::byte* panel, int row) {
  const PanelFormat format = panel_format(type);
  if (format.bits == 0) {
    const int bytes = value_bytes(type);
    for (std::int64_t k = 0; k < columns; ++k) {
      std::memcpy(panel + (k * kPanelRows + row) * bytes, gguf_row + k * bytes, static_cast<std::size_t>(bytes));
    }
    return;
  }
  const model_files::TensorTypeTraits& traits = model_files::traits(type);
  for (std::int64_t i = 0; i < columns / traits.block_values; ++i) {
    const std::byte* block = gguf_row + i * traits.block_bytes;
    if (traits.block_values == kBlock) {
      std::byte* group = panel + i / format.group_blocks * format.group_bytes();
      pack_simple(type, block, group, static_cast<int>(i % format.group_blocks), row);
    } else {
      pack_k(type, block, panel + i * format.group_bytes(), row);
    }
  }
}

RowBlock unpack_row_block(TensorType type, const std::byte* panel, std::int64_t block, int row) {
  const PanelFormat format = panel_format(type);
  const std::byte* header = panel + block / format.group_blocks * format.group_bytes();
  const int index = static_cast<int>(block % format.group_blocks);
  RowBlock result{};
  const Words w = get_words(format.bits, header + format.header_bytes + index * format.bits * kLineBytes, row);
  for (std::size_t k = 0; k < result.quants.size(); ++k) {
    const auto quant = static_cast<std::uint8_t>(w[k / 4] >> 8 * (k % 4));
    result.quants[k] = format.table ? kIq4Values[quant] : quant;
  }
  const auto byte = [&](int i) { return std::to_integer<int>(header[kSubScales + 16 * i + row]); };
  for (int sub = 0; sub < 2; ++sub) {
    const auto s = static_cast<std::size_t>(sub);
    const int scale_index = index * format.sub_blocks + (format.sub_blocks == 2 ? sub : 0);
    switch (format.scales) {
      case ScaleKind::halves:
        result.scale[s] = half_at(header, index, row);
        break;
      case ScaleKind::half_minima:
        result.scale[s] = half_at(header, 0, row);
        result.minimum[s] = half_at(header, 1, row);
        break;
      case ScaleKind::bytes:
        result.scale[s] = half_at(header, 0, row) * static_cast<float>(static_cast<std::int8_t>(byte(scale_index)));
        break;
      case ScaleKind::byte_minima:
        result.scale[s] = half_at(header, 0, row) * static_cast<float>(byte(scale_index));
        result.minimum[s] = -(half_at(header, 1, row) * static_cast<float>(byte(8 + scale_index)));
        break;
      case ScaleKind::nibbles:
        result.scale[s] = half_at(header, 0, row) * static_cast<float>(byte(scale_index) & 15);
        result.minimum[s] = -(half_at(header, 1, row) * static_cast<float>(byte(scale_index) >> 4));
        break;
    }
  }
  return result;
}

float panel_value(TensorType type, const std::byte* panel, std::int64_t column, int row) {
  const std::byte* at = panel + (column * kPanelRows + row) * value_bytes(type);
  if (type == TensorType::F32) return read<float>(at);
  const auto bits = read<std::uint16_t>(at);
  return type == TensorType::F16 ? model_files::f16_to_f32(bits) : model_files::bf16_to_f32(bits);
}

}  // namespace glmhost::kernels
