// How one tensor type lies in a panel of 16 rows (see packed_matrix.h for the idea). Internal to the kernels.
//
// A panel is a run of groups; a group is a header with scales and then, for each of its blocks of 32 columns, `bits`
// lines of 64 bytes. The group size makes every line 64-byte aligned.
//
//   group of         header (16 rows together, so 32 bytes for halves and 16 for bytes)
//   2 blocks  64 B   half d[2][16]                                      Q4_0 Q5_0 Q8_0 IQ4_NL
//   1 block   64 B   half d[16], half m[16]                             Q4_1 Q5_1
//   8 blocks  320 B  half d[16], half dmin[16], u8 sc[8][16], m[8][16]  Q4_K Q5_K
//   8 blocks  320 B  half d[16], -, i8 sc[16][16]                       Q6_K Q3_K
//   8 blocks  320 B  half d[16], half dmin[16], u8 sc|m<<4 [16][16]     Q2_K
//   8 blocks  192 B  half d[16], -, i8 sc[8][16]                        IQ4_XS
//
// Lines of a block, g = 0..7 counting its groups of 4 columns, byte p = row * 4 + column % 4:
//   8 bits     line g
//   4, 5, 6    lines 0..3: low nibble = g, high nibble = g + 4
//   5          then one line: bit g = bit 4 of group g
//   6          then two lines j: bits 2i, 2i + 1 = bits 4, 5 of group 4 j + i
//   2, 3       two lines j: bits 2i, 2i + 1 = bits 0, 1 of group 4 j + i
//   3          then one line: bit g = bit 2 of group g
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "inference/kernels/packed_matrix.h"
#include "inference/model_files/tensor_type.h"

namespace glmhost::kernels {

inline constexpr std::int64_t kBlock = 32;      // columns that share one activation scale
inline constexpr std::int64_t kLineBytes = 64;  // 4 columns of 16 rows
inline constexpr std::int64_t kBlockGroups = kBlock / 4;

enum class ScaleKind {
  halves,       // one half for a block
  half_minima,  // and one half that is added
  bytes,        // K types: half times a signed byte
  byte_minima,  // half times byte, minus half times byte
  nibbles,      // the same with both bytes in one
};

struct PanelFormat {
  int bits;    // of an unsigned quant, as stored; 0: a float type
  int offset;  // value = scale * (quant - offset) + minimum; a power of two or 0
  bool table;  // the quant is an index into kIq4Values, whose entries already hold the offset
  ScaleKind scales;
  int sub_blocks;    // scales for one block: 1, or 2 (one for each 16 columns)
  int group_blocks;  // blocks behind one header
  int header_bytes;

  constexpr std::int64_t group_bytes() const { return header_bytes + group_blocks * bits * kLineBytes; }
  constexpr bool minima() const {
    return scales == ScaleKind::half_minima || scales == ScaleKind::byte_minima || scales == ScaleKind::nibbles;
  }
  // Bits of the quant as it is multiplied.
  constexpr int dot_bits() const { return table ? 8 : bits; }
};

constexpr PanelFormat panel_format(model_files::TensorType type) {
  using model_files::TensorType;
  switch (type) {
    case TensorType::Q4_0:
      return {4, 8, false, ScaleKind::halves, 1, 2, 64};
    case TensorType::Q4_1:
      return {4, 0, false, ScaleKind::half_minima, 1, 1, 64};
    case TensorType::Q5_0:
      return {5, 16, false, ScaleKind::halves, 1, 2, 64};
    case TensorType::Q5_1:
      return {5, 0, false, ScaleKind::half_minima, 1, 1, 64};
    case TensorType::Q8_0:
      return {8, 128, false, ScaleKind::halves, 1, 2, 64};
    case TensorType::IQ4_NL:
      return {4, 128, true, ScaleKind::halves, 1, 2, 64};
    case TensorType::Q2_K:
      return {2, 0, false, ScaleKind::nibbles, 2, 8, 320};
    case TensorType::Q3_K:
      return {3, 4, false, ScaleKind::bytes, 2, 8, 320};
    case TensorType::Q4_K:
      return {4, 0, false, ScaleKind::byte_minima, 1, 8, 320};
    case TensorType::Q5_K:
      return {5, 0, false, ScaleKind::byte_minima, 1, 8, 320};
    case TensorType::Q6_K:
      return {6, 32, false, ScaleKind::bytes, 2, 8, 320};
    case TensorType::IQ4_XS:
      return {4, 128, true, ScaleKind::bytes, 1, 8, 192};
    default:
      return {0, 0, false, ScaleKind::halves, 1, 1, 0};
  }
}

// The values of IQ4_NL and IQ4_XS, moved by 128 so that they are unsigned.
inline constexpr std::array<std::uint8_t, 16> kIq4Values = {
    128 - 127, 128 - 104, 128 - 83, 128 - 65, 128 - 49, 128 - 35, 128 - 22, 128 - 10,
    128 + 1,   128 + 13,  128 + 25, 128 + 38, 128 + 53, 128 + 69, 128 + 89, 128 + 113};

std::size_t panel_bytes(model_files::TensorType type, std::int64_t columns);

// Moves one row in GGUF's layout into row `row` (0..15) of a panel that is zero there.
void pack_row(model_files::TensorType type, std::int64_t columns, const std::byte* gguf_row, std::byte* panel, int row);

// One row's part of a block of 32 columns.
struct RowBlock {
  std::array<std::uint8_t, kBlock> quants;  // to be multiplied: looked up in the table where there is one
  std::array<float, 2> scale;               // of the first and the last 16 columns
  std::array<float, 2> minimum;             // what is added to scale * (quant - offset)
};
RowBlock unpack_row_block(model_files::TensorType type, const std::byte* panel, std::int64_t block, int row);

// Element `column` of row `row` of a panel of a float type.
float panel_value(model_files::TensorType type, const std::byte* panel, std::int64_t column, int row);

}  // namespace glmhost::kernels
