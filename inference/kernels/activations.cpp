#include "inference/kernels/activations.h"

#include <algorithm>
#include <string>

#include "inference/error.h"
#include "inference/kernels/panel_format.h"

namespace glmhost::kernels {
namespace {

constexpr std::int64_t rounded_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Tiles of nearly equal width: 8 tokens with tiles of 6 are 4 + 4, because a narrow tile wastes the kernel.
std::int64_t tile_count(std::int64_t tokens, std::int64_t width) {
  return (tokens + width - 1) / width;
}
std::int64_t first_token(std::int64_t tile, std::int64_t tiles, std::int64_t tokens) {
  return tokens * tile / tiles;
}

// Tiles that one thread makes at a time: enough to be worth waking another thread for.
std::int64_t tile_grain(std::int64_t columns, std::int64_t width) {
  constexpr std::int64_t kValues = 32768;
  return std::max<std::int64_t>(1, kValues / (columns * width));
}

}  // namespace

Activations::State::State(std::int64_t rows_limit, std::int64_t columns_limit)
    : max_rows(rows_limit), max_columns(rounded_up(columns_limit, kBlock)) {
  const auto values_limit = static_cast<std::size_t>(max_rows) * static_cast<std::size_t>(max_columns);
  quants = PageMemory(values_limit);
  scales = PageMemory(values_limit / kBlock * sizeof(float));
  sums = PageMemory(values_limit / kBlock * 2 * sizeof(std::int32_t));
  values = PageMemory(values_limit * sizeof(float));
  quantized_tiles.reserve(static_cast<std::size_t>(max_rows));
  float_tiles.reserve(static_cast<std::size_t>(max_rows));
  bulk_tiles.reserve(static_cast<std::size_t>(max_rows));
  bulk_values = PageMemory(static_cast<std::size_t>(rounded_up(max_rows, kBulkTokens)) *
                           static_cast<std::size_t>(max_columns) * sizeof(std::uint16_t));
}

std::span<const QuantizedTile> Activations::State::quantized(const MatmulKernels& kernels, ThreadPool& pool) {
  if (quantized_for == &kernels) return quantized_tiles;
  const float* from = x + rows_in_bulk(kernels) * stride;
  const std::int64_t count = rows - rows_in_bulk(kernels);
  const std::int64_t blocks = columns / kBlock;
  const std::int64_t tiles = tile_count(count, kernels.quantized_tile_tokens);
  quantized_tiles.clear();
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    const std::int64_t first = first_token(tile, tiles, count);
    quantized_tiles.push_back({reinterpret_cast<std::int8_t*>(quants.data()) + first * columns,
                               reinterpret_cast<float*>(scales.data()) + first * blocks,
                               reinterpret_cast<std::int32_t*>(sums.data()) + first * blocks * 2, blocks,
                               first_token(tile + 1, tiles, count) - first});
  }
  pool.for_range(tiles, tile_grain(columns, kernels.quantized_tile_tokens),
                 [&](std::int64_t begin, std::int64_t end, int) {
                   for (std::int64_t tile = begin; tile < end; ++tile) {
                     kernels.quantize(from + first_token(tile, tiles, count) * stride, stride,
                                      quantized_tiles[static_cast<std::size_t>(tile)]);
                   }
                 });
  quantized_for = &kernels;
  return quantized_tiles;
}

std::span<const FloatTile> Activations::State::floats(const MatmulKernels& kernels, ThreadPool& pool) {
  if (floats_for == &kernels) return float_tiles;
  const std::int64_t tiles = tile_count(rows, kernels.float_tile_tokens);
  auto* all = reinterpret_cast<float*>(values.data());
  float_tiles.clear();
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    const std::int64_t first = first_token(tile, tiles, rows);
    const std::int64_t tokens = first_token(tile + 1, tiles, rows) - first;
    float_tiles.push_back({tokens == 1 ? x + first * stride : all + first * columns, tokens});
  }
  pool.for_range(tiles, tile_grain(columns, kernels.float_tile_tokens), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t tile = begin; tile < end; ++tile) {
      const std::int64_t first = first_token(tile, tiles, rows);
      const std::int64_t tokens = float_tiles[static_cast<std::size_t>(tile)].tokens;
      if (tokens == 1) continue;
      float* to = all + first * columns;
      for (std::int64_t k = 0; k < columns; ++k) {
        for (std::int64_t t = 0; t < tokens; ++t) *to++ = x[(first + t) * stride + k];
      }
    }
  });
  floats_for = &kernels;
  return float_tiles;
}

std::span<const BulkTile> Activations::State::bulk(const MatmulKernels& kernels, ThreadPool& pool) {
  if (bulk_for == &kernels) return bulk_tiles;
  auto* all = reinterpret_cast<std::uint16_t*>(bulk_values.data());
  bulk_tiles.clear();
  for (std::int64_t row = 0; row < bulk_rows; row += kBulkTokens) {
    bulk_tiles.push_back({all + row * columns, std::min(kBulkTokens, bulk_rows - row)});
  }
  pool.for_range(std::ssize(bulk_tiles), 1, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t tile = begin; tile < end; ++tile) {
      kernels.to_bulk(x + tile * kBulkTokens * stride, stride, columns, bulk_tiles[static_cast<std::size_t>(tile)]);
    }
  });
  bulk_for = &kernels;
  return bulk_tiles;
}

Activations::Activations(std::int64_t max_rows, std::int64_t max_columns)
    : state_(std::make_unique<State>(max_rows, max_columns)) {}
Activations::~Activations() = default;
Activations::Activations(Activations&&) noexcept = default;
Activations& Activations::operator=(Activations&&) noexcept = default;

void Activations::set(const float* x, std::int64_t rows, std::int64_t columns, std::int64_t stride, std::int64_t bulk) {
  State& s = *state_;
  if (rows < 0 || rows > s.max_rows || columns < 0 || columns > s.max_columns || stride < columns || bulk < 0 ||
      bulk > rows) {
    throw Error(ErrorKind::bad_argument, std::to_string(rows) + " rows of " + std::to_string(columns) +
                                             " activations (stride " + std::to_string(stride) +
                                             ") do not fit a buffer made for " + std::to_string(s.max_rows) + " x " +
                                             std::to_string(s.max_columns) + ".");
  }
  s.x = x;
  s.rows = rows;
  s.columns = columns;
  s.stride = stride;
  s.bulk_rows = bulk;
  s.quantized_for = nullptr;
  s.floats_for = nullptr;
  s.bulk_for = nullptr;
}

}  // namespace glmhost::kernels
