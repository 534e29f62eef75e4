// Causal grouped-query attention over a paged key-value cache.
//
// A page holds kPageTokens positions of every layer of one sequence. Inside a layer's part of a page, keys lie
// transposed, [kv head][dim][position], so that scores of 16 positions are one vector and need no horizontal sum;
// values lie [kv head][position][dim]. Softmax runs online over pages in ascending order (Milakov & Gimelshein 2018,
// Rabe & Staats 2021); the order depends on absolute positions only, so a result is the same for a prompt taken whole
// or in pieces, alone or in a batch, on any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "inference/kernels/thread_pool.h"

namespace glmhost::kernels {

inline constexpr std::int64_t kPageTokens = 32;

enum class KvType { f16, f32 };

// The cache of one layer inside a page. Layers may differ in kv_heads and dims.
struct KvLayout {
  std::int64_t kv_heads;
  std::int64_t key_dim;
  std::int64_t value_dim;
  KvType type;

  std::size_t element_bytes() const { return type == KvType::f16 ? 2 : 4; }
  std::size_t bytes() const {  // per page and layer, a multiple of 64
    return static_cast<std::size_t>(kv_heads * (key_dim + value_dim) * kPageTokens) * element_bytes();
  }
};

// layer_page: start of this layer's part of the page. key: kv_heads x key_dim, value: kv_heads x value_dim.
void store_kv(const KvLayout& layout, std::byte* layer_page, std::int64_t slot, const float* key, const float* value);

// One new token of one sequence.
struct AttentionRow {
  const float* query;                 // heads x key_dim, contiguous
  float* out;                         // heads x value_dim, contiguous
  std::int64_t position;              // attends to positions [max(0, position - window + 1), position]
  std::span<std::byte* const> pages;  // the sequence's pages in order; page p holds positions from p * kPageTokens
  bool bulk = false;                  // see Activations::set; with a cache in f16 only, others are not
};

struct AttentionParameters {
  KvLayout layout;
  std::size_t layer_offset;  // of this layer's part inside a page
  std::int64_t heads;        // query heads; head h reads kv head h * kv_heads / heads
  float scale;               // of the scores, 1 / sqrt(key_dim) as a rule
  std::int64_t window;       // 0: all positions
};

// Rows that follow one another with the same pages (pieces of a prompt) share the reading of keys and values. Bulk rows
// come first; where a matrix unit attends to them, keys, values and exponentials are rounded to bfloat16.
void attention(const AttentionParameters& parameters, std::span<const AttentionRow> rows, ThreadPool& pool);

}  // namespace glmhost::kernels
