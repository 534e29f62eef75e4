// Products of bulk rows on the matrix unit, in bfloat16 with float32 sums: two panels of weights times 32 rows, four
// tiles of sums that stay in the unit from the first column to the last. Weights are taken apart once for all rows;
// other products are done as with AVX-512.
//
// int8 tiles have twice the rate, but their sums must leave the unit for every block of 32 columns, whose scales
// differ, and that takes longer than both together (measured on Emerald Rapids: no faster than VNNI).
#include <immintrin.h>

#include <cstdint>

#include "inference/kernels/ints_avx512.h"
#include "inference/kernels/matmul_kernels.h"
#include "inference/kernels/tables.h"
#include "inference/kernels/tiles_amx.h"

namespace glmhost::kernels {
namespace {

void to_bulk(const float* x, std::int64_t stride, std::int64_t columns, const BulkTile& tile) {
  for (std::int64_t t = 0; t < tile.tokens; ++t) {
    const float* from = x + t * stride;
    std::uint16_t* to = tile.values + t * kBlock;
    for (std::int64_t k = 0; k < columns; k += kBlock, to += kBulkTokens * kBlock) {
      _mm512_store_si512(to, to_bf16(_mm512_loadu_ps(from + k), _mm512_loadu_ps(from + k + 16)));
    }
  }
}

// One of the four columns of a line.
template <int kColumn>
__m512 column(__m512i line, Avx512Ints::Floats scale, Avx512Ints::Floats shift) {
  const __m512i quants = _mm512_and_si512(_mm512_srli_epi32(line, 8 * kColumn), _mm512_set1_epi32(255));
  return fma(Avx512Ints::Floats{_mm512_cvtepi32_ps(quants)}, scale, shift).v;
}

// Weights as they are multiplied: [pair of columns][row][2].
template <TensorType kType>
void unpack(const std::byte* packed, std::int64_t blocks, std::byte* to) {
  using Panel = PackedPanel<Avx512Ints, kType>;
  using Floats = Avx512Ints::Floats;
  const Pairs pairs;
  Panel panel = {packed, {}, {}};
  for (std::int64_t begin = 0; begin < blocks; begin += Panel::kGroupBlocks) {
    panel.open();
    for (int block = 0; block < Panel::kGroupBlocks && begin + block < blocks; ++block) {
      unrolled<Panel::kFormat.sub_blocks>([&]<int sub>() {
        constexpr int kLines = static_cast<int>(kBlockGroups) / Panel::kFormat.sub_blocks;
        const Floats scale = panel.template scale<sub>(block);
        Floats shift = scale * Floats::broadcast(static_cast<float>(-Panel::kFormat.offset));  // exact: a power of two
        if constexpr (Panel::kFormat.minima()) shift = shift + panel.template minimum<sub>(block);
        unrolled<kLines>([&]<int i>() {
          const __m512i line = panel.template line<sub * kLines + i>(block);
          _mm512_store_si512(to, pairs(column<0>(line, scale, shift), column<1>(line, scale, shift)));
          _mm512_store_si512(to + kLineBytes, pairs(column<2>(line, scale, shift), column<3>(line, scale, shift)));
          to += 2 * kLineBytes;
        });
      });
    }
    panel.next();
  }
}

// The names of tiles are part of the instructions, hence no loops. kBoth: more than 16 rows of activations.
template <bool kBoth>
void sum_products(const std::byte* activations, const std::byte* first, const std::byte* second, std::int64_t blocks) {
  _tile_zero(4);
  _tile_zero(5);
  if constexpr (kBoth) {
    _tile_zero(6);
    _tile_zero(7);
  }
  for (std::int64_t block = 0; block < blocks; ++block) {
    tile_load<0>(activations, kLineBytes);
    tile_load<2>(first, kLineBytes);
    tile_load<3>(second, kLineBytes);
    _tile_dpbf16ps(4, 0, 2);
    _tile_dpbf16ps(5, 0, 3);
    if constexpr (kBoth) {
      tile_load<1>(activations + kTileBytes, kLineBytes);
      _tile_dpbf16ps(6, 1, 2);
      _tile_dpbf16ps(7, 1, 3);
    }
    activations += 2 * kTileBytes;
    first += kTileBytes;
    second += kTileBytes;
  }
}

// Brings the sums of up to 16 rows of activations and one panel to where they belong. store(to, stride) stores a tile.
template <class Store>
void write_sums(const ProductTask<BulkTile>& task, std::int64_t tokens, std::int64_t row, float* out,
                const Store& store) {
  if (task.bias == nullptr && tokens >= kTileRows && row + kPanelRows <= task.rows) {
    store(out + row, task.out_stride * static_cast<std::int64_t>(sizeof(float)));
    return;
  }
  alignas(64) float sums[kTileRows * kPanelRows];
  store(sums, kLineBytes);
  before_tile_loads();  // nor that they are stored
  for (std::int64_t t = 0; t < tokens && t < kTileRows; ++t) {
    Matmul<Avx512Ints>::write(Avx512Ints::Floats::load(sums + t * kPanelRows), task.bias, row, task.rows,
                              out + t * task.out_stride);
  }
}

template <TensorType kType>
void multiply_bulk_of(const ProductTask<BulkTile>& task) {
  const std::int64_t blocks = task.columns / kBlock;
  const std::int64_t step = Matmul<Avx512Ints>::packed_bytes<kType>(task.columns);
  Scratch scratch(task.scratch);
  auto* first = scratch.take<std::byte>(blocks * kTileBytes);
  auto* second = scratch.take<std::byte>(blocks * kTileBytes);
  for (std::int64_t row = 0; row < task.rows; row += 2 * kPanelRows) {
    const std::byte* panel = task.panels + row / kPanelRows * step;
    const bool two = row + kPanelRows < task.rows;
    unpack<kType>(panel, blocks, first);
    if (two) unpack<kType>(panel + step, blocks, second);
    before_tile_loads();
    float* out = task.out;
    for (const BulkTile& tile : task.tiles) {
      const auto* activations = reinterpret_cast<const std::byte*>(tile.values);
      const std::int64_t more = tile.tokens - kTileRows;
      if (more > 0) {
        sum_products<true>(activations, first, second, blocks);
      } else {
        sum_products<false>(activations, first, second, blocks);
      }
      write_sums(task, tile.tokens, row, out, [](float* to, std::int64_t stride) { tile_store<4>(to, stride); });
      if (two)
        write_sums(task, tile.tokens, row + kPanelRows, out,
                   [](float* to, std::int64_t stride) { tile_store<5>(to, stride); });
      if (more > 0) {
        float* below = out + kTileRows * task.out_stride;
        write_sums(task, more, row, below, [](float* to, std::int64_t stride) { tile_store<6>(to, stride); });
        if (two)
          write_sums(task, more, row + kPanelRows, below,
                     [](float* to, std::int64_t stride) { tile_store<7>(to, stride); });
      }
      out += tile.tokens * task.out_stride;
    }
  }
}

void multiply_bulk(const ProductTask<BulkTile>& task) {
  const TilesInUse tiles;
  for_quantized_type(task.type, [&]<TensorType kType>() { multiply_bulk_of<kType>(task); });
}

void quantize(const float* x, std::int64_t stride, const QuantizedTile& tile) {
  kAvx512Matmul.quantize(x, stride, tile);
}
void multiply_quantized(const ProductTask<QuantizedTile>& task) {
  kAvx512Matmul.multiply_quantized(task);
}
void multiply_float(const ProductTask<FloatTile>& task) {
  kAvx512Matmul.multiply_float(task);
}

}  // namespace

constinit const MatmulKernels kAmxMatmul = {.quantized_tile_tokens = Avx512Ints::kTokens,
                                            .float_tile_tokens = Avx512Ints::kFloatTokens,
                                            .quantize = quantize,
                                            .multiply_quantized = multiply_quantized,
                                            .multiply_float = multiply_float,
                                            .to_bulk = to_bulk,
                                            .multiply_bulk = multiply_bulk};

}  // namespace glmhost::kernels
