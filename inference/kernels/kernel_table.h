// The kernels of one instruction set, and what they are handed. Internal to this folder and its tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "inference/kernels/attention.h"
#include "inference/kernels/elementwise.h"
#include "inference/kernels/instruction_set.h"
#include "inference/model_files/tensor_type.h"

namespace glmhost::kernels {

// --- matrix products

// Up to kMaxTileTokens rows of activations (tokens) side by side, quantised to int8 in blocks of 32 columns. The
// bytes of 4 columns of one token are one 32-bit word, which a kernel broadcasts against a line of weights.
struct QuantizedTile {
  std::int8_t* quants;  // [block][8 groups of 4 columns][token][4]
  float* scales;        // [block][token]; NaN for a block with a NaN or an infinity in it, so that the result shows it
  std::int32_t* sums;   // [2][block][token]: of the quants of the first and the last 16 columns
  std::int64_t blocks;
  std::int64_t tokens;
};

// The same tokens in float32.
struct FloatTile {
  const float* values;  // [column][token]
  std::int64_t tokens;
};

inline constexpr std::int64_t kMaxTileTokens = 16;

// Up to kBulkTokens rows in bfloat16: [block of 32 columns][kBulkTokens][32]. What stands behind the last token is
// multiplied too, and nobody looks at the result.
struct BulkTile {
  std::uint16_t* values;
  std::int64_t tokens;
};

inline constexpr std::int64_t kBulkTokens = 32;

constexpr std::size_t product_scratch_bytes(std::int64_t columns) {
  return static_cast<std::size_t>(columns + 64) * 64;
}

// Consecutive panels times consecutive tiles.
template <class Tile>
struct ProductTask {
  model_files::TensorType type;
  const std::byte* panels;
  std::int64_t columns;
  std::int64_t rows;  // of the panels together; only the last panel may have fewer than 16
  const float* bias;  // of the first row, or null
  float* out;         // the first token's first row
  std::int64_t out_stride;
  std::span<const Tile> tiles;
  std::byte* scratch;  // product_scratch_bytes(columns)
};

struct MatmulKernels {
  std::int64_t quantized_tile_tokens;  // the widest tile that multiply_quantized takes
  std::int64_t float_tile_tokens;
  // x: tile.tokens rows of tile.blocks * 32 floats, `stride` floats apart.
  void (*quantize)(const float* x, std::int64_t stride, const QuantizedTile& tile);
  void (*multiply_quantized)(const ProductTask<QuantizedTile>& task);
  void (*multiply_float)(const ProductTask<FloatTile>& task);
  // Bulk rows (see Activations::set) times quantised weights; null where there is no matrix unit for them.
  void (*to_bulk)(const float* x, std::int64_t stride, std::int64_t columns, const BulkTile& tile) = nullptr;
  void (*multiply_bulk)(const ProductTask<BulkTile>& task) = nullptr;
};

// --- attention

// Some rows of one sequence and the query heads of one kv head, over consecutive segments (see float_order.h). A
// row's heads are one after the other; "query" counts them over all rows.
struct AttentionTask {
  const AttentionParameters* parameters;
  std::span<const AttentionRow> rows;
  std::int64_t kv_head;
  std::int64_t first_segment;
  std::int64_t last_segment;  // one past
  std::byte* scratch;         // attention_scratch_bytes
};

constexpr std::int64_t queries_per_kv_head(const AttentionParameters& p) {
  return p.heads / p.layout.kv_heads;
}
constexpr std::int64_t padded_value_dim(const KvLayout& layout) {
  return (layout.value_dim + 15) / 16 * 16;
}

// What attention over some positions leaves of `queries` queries, to be joined with the other positions':
// greatest[queries], sum[queries], values[queries][padded_value_dim]; sum is 0 where a query saw no position.
constexpr std::int64_t attention_state_floats(const KvLayout& layout, std::int64_t queries) {
  return (queries + 15) / 16 * 16 * 2 + queries * padded_value_dim(layout);
}

constexpr std::size_t attention_scratch_bytes(const KvLayout& layout, std::int64_t queries) {
  const std::int64_t rounded = (queries + 15) / 16 * 16;
  const std::int64_t query_floats = rounded * layout.key_dim + rounded * kPageTokens + rounded * 17;
  return static_cast<std::size_t>(query_floats + 2 * attention_state_floats(layout, queries)) * sizeof(float) + 256;
}

struct AttentionKernels {
  std::int64_t tile_queries;  // rows are taken together up to this many queries
  void (*store_kv)(const KvLayout& layout, std::byte* layer_page, std::int64_t slot, const float* key,
                   const float* value);
  // Over all of the task's segments; writes the rows' out.
  void (*attend)(const AttentionTask& task);
  // Over all of the task's segments; leaves the state.
  void (*attend_partly)(const AttentionTask& task, float* state);
  // Joins the states of consecutive ranges of segments, `step` floats apart, in order, and writes the rows' out.
  void (*join)(const AttentionTask& task, float* states, std::int64_t step, std::int64_t count);
  // Bulk rows with a cache in f16, over all of the task's segments; null where there is no matrix unit for them.
  std::size_t (*bulk_scratch_bytes)(const KvLayout& layout, std::int64_t queries) = nullptr;
  void (*attend_bulk)(const AttentionTask& task) = nullptr;
};

// --- rows

struct ElementwiseKernels {
  void (*rms_norm)(const float* x, const float* weight, float eps, float* out, std::int64_t columns);
  void (*silu_mul)(const float* gate, const float* up, float* out, std::int64_t count);
  void (*gelu_mul)(const float* gate, const float* up, float* out, std::int64_t count);
  void (*add)(const float* a, const float* b, float* out, std::int64_t count);
  void (*rotate)(float* x, std::int64_t heads, std::int64_t head_dim, std::int64_t rotary_dim, RotaryPairing pairing,
                 const float* cos_sin);
};

const MatmulKernels& matmul_kernels(InstructionSet set);
const AttentionKernels& attention_kernels(InstructionSet set);
const ElementwiseKernels& elementwise_kernels(InstructionSet set);

}  // namespace glmhost::kernels
