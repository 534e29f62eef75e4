// The forms of a matmul's input that kernels read, made once per input and shared by all its products. Internal.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inference/kernels/kernel_table.h"
#include "inference/kernels/matmul.h"
#include "inference/kernels/page_memory.h"

namespace glmhost::kernels {

struct Activations::State {
  State(std::int64_t max_rows, std::int64_t max_columns);

  // The tiles of at most `width` tokens each, made (in parallel) unless they are there already.
  std::span<const QuantizedTile> quantized(const MatmulKernels& kernels, ThreadPool& pool);
  std::span<const FloatTile> floats(const MatmulKernels& kernels, ThreadPool& pool);
  std::span<const BulkTile> bulk(const MatmulKernels& kernels, ThreadPool& pool);

  // Rows of quantised products that are bulk tiles, the first ones; the others are quantised.
  std::int64_t rows_in_bulk(const MatmulKernels& kernels) const {
    return kernels.multiply_bulk != nullptr ? bulk_rows : 0;
  }

  const float* x = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t stride = 0;
  std::int64_t bulk_rows = 0;
  std::int64_t max_rows;
  std::int64_t max_columns;  // a multiple of 32

  const MatmulKernels* quantized_for = nullptr;  // whose tiles are in place for x, or null
  const MatmulKernels* floats_for = nullptr;
  const MatmulKernels* bulk_for = nullptr;
  std::vector<QuantizedTile> quantized_tiles;
  std::vector<FloatTile> float_tiles;
  std::vector<BulkTile> bulk_tiles;
  PageMemory quants;
  PageMemory scales;
  PageMemory sums;
  PageMemory values;
  PageMemory bulk_values;
};

// matmul with the kernels of one instruction set.
void matmul_with(const MatmulKernels& kernels, Activations& input, std::span<const Product> products, ThreadPool& pool);

}  // namespace glmhost::kernels
