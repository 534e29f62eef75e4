// The reference: one output at a time, in the order that every other kernel keeps.
#include <algorithm>
#include <cmath>
#include <limits>

#include "inference/kernels/float_order.h"
#include "inference/kernels/fused_multiply_add.h"
#include "inference/kernels/kernel_table.h"
#include "inference/kernels/panel_format.h"
#include "inference/kernels/tables.h"

namespace glmhost::kernels {
namespace {

constexpr std::int64_t kTileTokens = 4;

// To the nearest integer, ties to even, for |x| < 2^22: the sum's last bit has the weight 1.
float rounded(float x) {
  constexpr float kMagic = 12582912.0F;  // 1.5 * 2^23
  return (x + kMagic) - kMagic;
}

void quantize_block(const float* x, std::int8_t* quants, std::int64_t word_step, float& scale, std::int32_t& low_sum,
                    std::int32_t& high_sum) {
  float most = 0;
  bool finite = true;
  for (std::int64_t k = 0; k < kBlock; ++k) {
    most = std::max(most, std::fabs(x[k]));
    finite = finite && std::isfinite(x[k]);
  }
  // Below kSmallest 127 / most might overflow.
  const bool zero = !finite || most < kSmallestActivation;
  const float inverse = zero ? 0 : 127.0F / most;
  scale = !finite ? std::numeric_limits<float>::quiet_NaN() : zero ? 0 : most / 127.0F;
  std::int32_t sums[2] = {0, 0};
  for (std::int64_t k = 0; k < kBlock; ++k) {
    const auto quant = static_cast<std::int8_t>(zero ? 0 : rounded(x[k] * inverse));
    quants[k / 4 * word_step + k % 4] = quant;
    sums[k / 16] += quant;
  }
  low_sum = sums[0];
  high_sum = sums[1];
}

void quantize(const float* x, std::int64_t stride, const QuantizedTile& tile) {
  for (std::int64_t t = 0; t < tile.tokens; ++t) {
    for (std::int64_t block = 0; block < tile.blocks; ++block) {
      std::int32_t* sums = tile.sums + block * tile.tokens + t;
      quantize_block(x + t * stride + block * kBlock, tile.quants + (block * kBlock * tile.tokens) + t * 4,
                     tile.tokens * 4, tile.scales[block * tile.tokens + t], sums[0], sums[tile.blocks * tile.tokens]);
    }
  }
}

std::int32_t dot(const RowBlock& weights, int first, int count, const std::int8_t* x, std::int64_t word_step) {
  std::int32_t sum = 0;
  for (int k = first; k < first + count; ++k)
    sum += weights.quants[static_cast<std::size_t>(k)] * x[k / 4 * word_step + k % 4];
  return sum;
}

// One block of one row and one token, added to acc: integer sums, then one fused multiply-add for each scale and then
// one for each minimum.
float add_block(const PanelFormat& format, const RowBlock& weights, const QuantizedTile& tile, std::int64_t block,
                std::int64_t t, float acc) {
  const std::int8_t* x = tile.quants + block * kBlock * tile.tokens + t * 4;
  const float scale = tile.scales[block * tile.tokens + t];
  const std::int32_t* sums = tile.sums + block * tile.tokens + t;
  const std::int32_t x_sums[2] = {sums[0], sums[tile.blocks * tile.tokens]};
  if (format.sub_blocks == 1) {
    const std::int32_t x_sum = x_sums[0] + x_sums[1];
    const std::int32_t sum = dot(weights, 0, 32, x, tile.tokens * 4) - format.offset * x_sum;
    acc = fused_multiply_add(static_cast<float>(sum), weights.scale[0] * scale, acc);
    return format.minima() ? fused_multiply_add(weights.minimum[0], scale * static_cast<float>(x_sum), acc) : acc;
  }
  for (int sub = 0; sub < 2; ++sub) {
    const auto s = static_cast<std::size_t>(sub);
    const std::int32_t sum = dot(weights, 16 * sub, 16, x, tile.tokens * 4) - format.offset * x_sums[sub];
    acc = fused_multiply_add(static_cast<float>(sum), weights.scale[s] * scale, acc);
  }
  if (!format.minima()) return acc;
  for (std::size_t s = 0; s < 2; ++s) {
    acc = fused_multiply_add(weights.minimum[s], scale * static_cast<float>(x_sums[s]), acc);
  }
  return acc;
}

void multiply_quantized(const ProductTask<QuantizedTile>& task) {
  const PanelFormat format = panel_format(task.type);
  const auto step = static_cast<std::int64_t>(panel_bytes(task.type, task.columns));
  for (std::int64_t row = 0; row < task.rows; ++row) {
    const std::byte* panel = task.panels + row / kPanelRows * step;
    float* out = task.out + row;
    for (const QuantizedTile& tile : task.tiles) {
      float acc[kTileTokens] = {};
      for (std::int64_t block = 0; block < task.columns / kBlock; ++block) {
        const RowBlock weights = unpack_row_block(task.type, panel, block, static_cast<int>(row % kPanelRows));
        for (std::int64_t t = 0; t < tile.tokens; ++t) acc[t] = add_block(format, weights, tile, block, t, acc[t]);
      }
      for (std::int64_t t = 0; t < tile.tokens; ++t, out += task.out_stride) {
        *out = task.bias == nullptr ? acc[t] : acc[t] + task.bias[row];
      }
    }
  }
}

void multiply_float(const ProductTask<FloatTile>& task) {
  const auto step = static_cast<std::int64_t>(panel_bytes(task.type, task.columns));
  for (std::int64_t row = 0; row < task.rows; ++row) {
    const std::byte* panel = task.panels + row / kPanelRows * step;
    float* out = task.out + row;
    for (const FloatTile& tile : task.tiles) {
      float total[kTileTokens] = {};
      for (std::int64_t begin = 0; begin < task.columns; begin += kFloatChunk) {
        float acc[kTileTokens] = {};
        for (std::int64_t k = begin; k < std::min(begin + kFloatChunk, task.columns); ++k) {
          const float weight = panel_value(task.type, panel, k, static_cast<int>(row % kPanelRows));
          for (std::int64_t t = 0; t < tile.tokens; ++t) {
            acc[t] = fused_multiply_add(weight, tile.values[k * tile.tokens + t], acc[t]);
          }
        }
        for (std::int64_t t = 0; t < tile.tokens; ++t) total[t] += acc[t];
      }
      for (std::int64_t t = 0; t < tile.tokens; ++t, out += task.out_stride) {
        *out = task.bias == nullptr ? total[t] : total[t] + task.bias[row];
      }
    }
  }
}

}  // namespace

constinit const MatmulKernels kScalarMatmul = {kTileTokens, kTileTokens, quantize, multiply_quantized, multiply_float};

}  // namespace glmhost::kernels
