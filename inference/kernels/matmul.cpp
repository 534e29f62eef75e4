#include "inference/kernels/matmul.h"

#include <algorithm>
#include <string>
#include <vector>

#include "inference/error.h"
#include "inference/kernels/activations.h"
#include "inference/kernels/kernel_table.h"
#include "inference/kernels/panel_format.h"

namespace glmhost::kernels {
namespace {

enum class Form { quantized, bulk, floats };  // of the activations

// A piece of work: some panels of one product times some tiles.
struct Item {
  const Product* product;
  Form form;
  std::int64_t first_panel;
  std::int64_t panels;
  std::int64_t first_tile;
  std::int64_t tiles;
};

constexpr std::int64_t divided_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit;
}

// Tiles taken together so that their activations stay in a core's second-level cache while panels stream by.
std::int64_t tiles_per_item(std::int64_t tiles, std::int64_t tile_bytes) {
  constexpr std::int64_t kCacheBytes = std::int64_t{512} << 10;
  constexpr std::int64_t kLeastTiles = 8;  // unpacking a panel must stay cheap beside its use
  const std::int64_t most = std::max(kLeastTiles, kCacheBytes / tile_bytes);
  return divided_up(tiles, divided_up(tiles, most));
}

// Panels taken together: even, because kernels work on pairs; enough work to be worth a hand-out, yet several pieces
// for each thread, so that a late thread does not hold up the loop.
std::int64_t panels_per_item(std::int64_t all_panels, std::int64_t panel_cost, int threads) {
  constexpr std::int64_t kItemCost = 16384;
  constexpr std::int64_t kPiecesPerThread = 4;
  const std::int64_t worthwhile = divided_up(kItemCost, panel_cost);
  const std::int64_t fair = threads == 1 ? all_panels : all_panels / (threads * kPiecesPerThread);
  return std::max<std::int64_t>(2, std::min(worthwhile, fair) / 2 * 2);
}

void add_items(const Product& product, Form form, std::int64_t tiles, std::int64_t tile_tokens, std::int64_t tile_bytes,
               std::int64_t all_panels, int threads, std::vector<Item>& items) {
  const std::int64_t panels = divided_up(product.weights->rows(), kPanelRows);
  if (tiles == 0) return;
  const std::int64_t tile_step = tiles_per_item(tiles, tile_bytes);
  // Reading and unpacking a panel costs about as much as 4 tokens.
  const std::int64_t panel_cost = product.weights->columns() * (4 + tile_step * tile_tokens);
  const std::int64_t panel_step = panels_per_item(all_panels, panel_cost, threads);
  for (std::int64_t tile = 0; tile < tiles; tile += tile_step) {
    for (std::int64_t panel = 0; panel < panels; panel += panel_step) {
      items.push_back(
          {&product, form, panel, std::min(panel_step, panels - panel), tile, std::min(tile_step, tiles - tile)});
    }
  }
}

template <class Tile>
ProductTask<Tile> task_of(const Item& item, std::span<const Tile> tiles, std::int64_t first_row_of_tiles,
                          std::byte* scratch) {
  const PackedMatrix& weights = *item.product->weights;
  const std::int64_t first_row = item.first_panel * kPanelRows;
  std::int64_t first_token = first_row_of_tiles;
  for (const Tile& tile : tiles.first(static_cast<std::size_t>(item.first_tile))) first_token += tile.tokens;
  return {.type = weights.type(),
          .panels = weights.panel(item.first_panel),
          .columns = weights.columns(),
          .rows = std::min(item.panels * kPanelRows, weights.rows() - first_row),
          .bias = item.product->bias == nullptr ? nullptr : item.product->bias + first_row,
          .out = item.product->out + first_token * item.product->out_stride + first_row,
          .out_stride = item.product->out_stride,
          .tiles = tiles.subspan(static_cast<std::size_t>(item.first_tile), static_cast<std::size_t>(item.tiles)),
          .scratch = scratch};
}

}  // namespace

void matmul_with(const MatmulKernels& kernels, Activations& input, std::span<const Product> products,
                 ThreadPool& pool) {
  Activations::State& state = input.state();
  if (state.rows == 0) return;
  std::span<const QuantizedTile> quantized;
  std::span<const BulkTile> bulk;
  std::span<const FloatTile> floats;
  const std::int64_t rows_in_bulk = state.rows_in_bulk(kernels);
  std::int64_t all_panels = 0;
  for (const Product& product : products) {
    if (product.weights->columns() != state.columns) {
      throw Error(ErrorKind::bad_argument, "A weight matrix of " + std::to_string(product.weights->columns()) +
                                               " columns cannot multiply activations of " +
                                               std::to_string(state.columns) + " columns.");
    }
    all_panels += divided_up(product.weights->rows(), kPanelRows);
    if (!product.weights->quantized()) {
      floats = state.floats(kernels, pool);
      continue;
    }
    if (rows_in_bulk > 0) bulk = state.bulk(kernels, pool);
    if (rows_in_bulk < state.rows) quantized = state.quantized(kernels, pool);
  }

  std::vector<Item> items;
  const auto add = [&](const Product& product, Form form, std::int64_t tiles, std::int64_t tile_tokens,
                       std::int64_t value_bytes) {
    add_items(product, form, tiles, std::min(tile_tokens, state.rows), tile_tokens * state.columns * value_bytes,
              all_panels, pool.size(), items);
  };
  for (const Product& product : products) {
    if (product.weights->quantized()) {
      add(product, Form::bulk, std::ssize(bulk), kBulkTokens, 2);
      add(product, Form::quantized, std::ssize(quantized), kernels.quantized_tile_tokens, 1);
    } else {
      add(product, Form::floats, std::ssize(floats), kernels.float_tile_tokens, 4);
    }
  }
  pool.reserve_scratch(product_scratch_bytes(state.columns));
  pool.for_range(std::ssize(items), 1, [&](std::int64_t begin, std::int64_t end, int thread) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Item& item = items[static_cast<std::size_t>(i)];
      std::byte* scratch = pool.scratch(thread);
      switch (item.form) {
        case Form::bulk:
          kernels.multiply_bulk(task_of(item, bulk, 0, scratch));
          break;
        case Form::quantized:
          kernels.multiply_quantized(task_of(item, quantized, rows_in_bulk, scratch));
          break;
        case Form::floats:
          kernels.multiply_float(task_of(item, floats, 0, scratch));
          break;
      }
    }
  });
}

bool has_bulk_products() {
  return matmul_kernels(selected_instruction_set()).multiply_bulk != nullptr;
}

void matmul(Activations& input, std::span<const Product> products, ThreadPool& pool) {
  static const MatmulKernels& kernels = matmul_kernels(selected_instruction_set());
  matmul_with(kernels, input, products, pool);
}

}  // namespace glmhost::kernels
