// A weight matrix in the layout the kernels read: panels of 16 rows, interleaved.
//
// Quantised types: within a panel, k advances in blocks of 32 (256 for K types); one 64-byte line holds 4 consecutive
// k of 16 rows, byte [row * 4 + k % 4], so that one line feeds one 512-bit dot-product instruction (two halves feed the
// 256-bit one), and 16 consecutive lines are one 16 x 64 AMX tile. 4-bit types keep two lines in one (low nibbles: line
// g, high nibbles: line g + 4 of the block); 2-, 3-, 5- and 6-bit types add bit planes, so every type stays close to
// its size in the file. Scales stand beside their block, 16 rows together. Quants are unsigned with an offset (the
// left operand of VNNI); what the offset adds is taken off with the activations' block sums.
// Float types (F32, F16, BF16): line k holds 16 rows' values.
//
// The last panel is padded with zero rows. Memory is the object's own, 64-byte aligned, on huge pages where the system
// gives them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "inference/model_files/tensor_type.h"

namespace glmhost::kernels {

inline constexpr std::int64_t kPanelRows = 16;

class PackedMatrix {
 public:
  PackedMatrix();
  // An empty matrix to be filled by pack_rows. columns must be a multiple of the type's block.
  // Throws Error(out_of_memory).
  PackedMatrix(model_files::TensorType type, std::int64_t rows, std::int64_t columns);
  PackedMatrix(PackedMatrix&&) noexcept;
  PackedMatrix& operator=(PackedMatrix&&) noexcept;
  ~PackedMatrix();

  // Takes rows [first, first + count) in GGUF's layout (row after row). first must be a multiple of kPanelRows, count
  // too unless the range ends the matrix. Different ranges may be packed by different threads at once.
  void pack_rows(std::int64_t first, std::int64_t count, std::span<const std::byte> gguf_rows);

  model_files::TensorType type() const { return type_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  std::size_t bytes() const;
  static std::size_t bytes_for(model_files::TensorType type, std::int64_t rows, std::int64_t columns);
  bool quantized() const;  // multiplied against int8 activations (else against float32)

  // One row as float32 (an embedding look-up), columns() values; equal to model_files::dequantize of that row.
  void dequantize_row(std::int64_t row, float* out) const;

  const std::byte* panel(std::int64_t index) const;  // for the kernels
  std::size_t panel_bytes() const;

 private:
  struct Memory;
  model_files::TensorType type_ = model_files::TensorType::F32;
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  std::unique_ptr<Memory> memory_;
};

}  // namespace glmhost::kernels
