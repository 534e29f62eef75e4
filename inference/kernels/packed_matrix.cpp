#include "inference/kernels/packed_matrix.h"

#include <algorithm>
#include <string>
#include <utility>

#include "inference/error.h"
#include "inference/kernels/page_memory.h"
#include "inference/kernels/panel_format.h"

namespace glmhost::kernels {
namespace {

std::int64_t panels_of(std::int64_t rows) {
  return (rows + kPanelRows - 1) / kPanelRows;
}

void check(bool holds, const std::string& what) {
  if (!holds) throw Error(ErrorKind::bad_argument, "A weight matrix cannot be packed: " + what + ".");
}

}  // namespace

struct PackedMatrix::Memory {
  PageMemory pages;
};

PackedMatrix::PackedMatrix(model_files::TensorType type, std::int64_t rows, std::int64_t columns)
    : type_(type), rows_(rows), columns_(columns) {
  check(rows > 0 && columns > 0 && columns % model_files::traits(type).block_values == 0,
        std::to_string(columns) + " columns of type " + std::string(model_files::traits(type).name) +
            " are not a whole number of blocks");
  memory_ = std::make_unique<Memory>(Memory{PageMemory(bytes_for(type, rows, columns))});
}

PackedMatrix::PackedMatrix() = default;
PackedMatrix::PackedMatrix(PackedMatrix&&) noexcept = default;
PackedMatrix& PackedMatrix::operator=(PackedMatrix&&) noexcept = default;
PackedMatrix::~PackedMatrix() = default;

void PackedMatrix::pack_rows(std::int64_t first, std::int64_t count, std::span<const std::byte> gguf_rows) {
  const auto row_bytes = static_cast<std::size_t>(model_files::row_bytes(type_, columns_));
  check(first >= 0 && count >= 0 && first <= rows_ && count <= rows_ - first, "the rows lie outside of it");
  check(first % kPanelRows == 0 && (count % kPanelRows == 0 || first + count == rows_),
        "the rows are not whole panels of " + std::to_string(kPanelRows));
  check(gguf_rows.size() == static_cast<std::size_t>(count) * row_bytes, "the data has the wrong size");
  const std::size_t step = panel_bytes();
  for (std::int64_t i = 0; i < count; ++i) {
    std::byte* panel = memory_->pages.data() + static_cast<std::size_t>((first + i) / kPanelRows) * step;
    pack_row(type_, columns_, gguf_rows.data() + static_cast<std::size_t>(i) * row_bytes, panel,
             static_cast<int>((first + i) % kPanelRows));
  }
}

std::size_t PackedMatrix::bytes() const {
  return memory_ == nullptr ? 0 : bytes_for(type_, rows_, columns_);
}

std::size_t PackedMatrix::bytes_for(model_files::TensorType type, std::int64_t rows, std::int64_t columns) {
  return static_cast<std::size_t>(panels_of(rows)) * kernels::panel_bytes(type, columns);
}

bool PackedMatrix::quantized() const {
  return panel_format(type_).bits != 0;
}

void PackedMatrix::dequantize_row(std::int64_t row, float* out) const {
  const std::byte* rows = panel(row / kPanelRows);
  const int in_panel = static_cast<int>(row % kPanelRows);
  if (!quantized()) {
    for (std::int64_t k = 0; k < columns_; ++k) out[k] = panel_value(type_, rows, k, in_panel);
    return;
  }
  const PanelFormat format = panel_format(type_);
  for (std::int64_t block = 0; block < columns_ / kBlock; ++block) {
    const RowBlock values = unpack_row_block(type_, rows, block, in_panel);
    for (std::size_t k = 0; k < values.quants.size(); ++k) {
      const float product = values.scale[k / 16] * static_cast<float>(values.quants[k] - format.offset);
      *out++ = format.minima() ? product + values.minimum[k / 16] : product;
    }
  }
}

const std::byte* PackedMatrix::panel(std::int64_t index) const {
  return memory_->pages.data() + static_cast<std::size_t>(index) * panel_bytes();
}

std::size_t PackedMatrix::panel_bytes() const {
  return kernels::panel_bytes(type_, columns_);
}

}  // namespace glmhost::kernels
