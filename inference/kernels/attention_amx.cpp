// Attention of bulk rows on the matrix unit: queries, keys, exponentials and values in bfloat16, sums in float32. Keys
// and values of a segment are brought into the unit's form once for all queries of a task. Inside a segment the
// softmax is not online: all its scores are there before the first exponential. Other rows are attended to as with
// AVX-512.
#include <immintrin.h>

#include <cstdint>

#include "inference/kernels/attention_kernels.h"
#include "inference/kernels/float_order.h"
#include "inference/kernels/tables.h"
#include "inference/kernels/tiles_amx.h"

namespace glmhost::kernels {
namespace {

using V = Avx512Lanes;

constexpr std::int64_t kSegmentPages = kSegmentTokens / kPageTokens;
constexpr std::int64_t kPairTokens = 2 * kTileRows;  // queries at a time: two tiles
static_assert(kPageTokens == 32, "a page is as long as a tile is wide");

constexpr std::int64_t key_blocks(const KvLayout& layout) {
  return (layout.key_dim + 31) / 32;
}
constexpr std::int64_t value_tiles(const KvLayout& layout) {
  return padded_value_dim(layout) / 16;
}
constexpr std::int64_t padded_queries(std::int64_t queries) {
  return (queries + kPairTokens - 1) / kPairTokens * kPairTokens;
}

class BulkAttention {
 public:
  explicit BulkAttention(const AttentionTask& task)
      : task_(task),
        layout_(task.parameters->layout),
        group_(queries_per_kv_head(*task.parameters)),
        queries_(group_ * static_cast<std::int64_t>(task.rows.size())),
        blocks_(key_blocks(layout_)),
        value_tiles_(value_tiles(layout_)),
        value_step_(padded_value_dim(layout_)) {
    std::byte* next = task.scratch;
    const auto take = [&next](std::int64_t bytes) {
      std::byte* taken = next;
      next += (bytes + 63) / 64 * 64;
      return taken;
    };
    const std::int64_t padded = padded_queries(queries_);
    query_ = take(padded / kTileRows * blocks_ * kTileBytes);
    keys_ = take(kSegmentPages * 2 * blocks_ * kTileBytes);
    values_ = take(kSegmentPages * value_tiles_ * kTileBytes);
    weights_ = take(kSegmentPages * 2 * kTileBytes);
    scores_ = reinterpret_cast<float*>(take(kPairTokens * kSegmentTokens * 4));
    here_ = reinterpret_cast<float*>(take(kPairTokens * value_step_ * 4));
    greatest_ = reinterpret_cast<float*>(take(padded * 4));
    sum_ = reinterpret_cast<float*>(take(padded * 4));
    total_ = reinterpret_cast<float*>(take(padded * value_step_ * 4));
  }

  static std::size_t scratch_bytes(const KvLayout& layout, std::int64_t queries) {
    const std::int64_t padded = padded_queries(queries);
    const std::int64_t tiles = padded / kTileRows * key_blocks(layout) + kSegmentPages * 2 * key_blocks(layout) +
                               kSegmentPages * value_tiles(layout) + kSegmentPages * 2;
    const std::int64_t floats = kPairTokens * kSegmentTokens + (kPairTokens + padded) * padded_value_dim(layout);
    return static_cast<std::size_t>(tiles * kTileBytes + floats * 4 + 2 * padded * 4 + 64);
  }

  void run() {
    load_queries();
    for (std::int64_t q = 0; q < queries_; ++q) sum_[q] = 0;
    for (std::int64_t segment = task_.first_segment; segment < task_.last_segment; ++segment) run_segment(segment);
    write_out();
  }

 private:
  const AttentionRow& row_of(std::int64_t query) const { return task_.rows[static_cast<std::size_t>(query / group_)]; }
  Positions positions(std::int64_t query, std::int64_t begin) const {
    return within(positions_of(row_of(query), task_.parameters->window), begin, kSegmentTokens);
  }
  // The positions that any of the queries sees.
  Positions positions(std::int64_t first_query, std::int64_t last_query, std::int64_t begin) const {
    Positions all{kSegmentTokens, 0};
    for (std::int64_t q = first_query; q < last_query; ++q) {
      const Positions p = positions(q, begin);
      if (!p.empty()) all = {at_most(all.first, p.first), at_least(all.last, p.last)};
    }
    return all;
  }

  // Scaled; zero where a tile is wider than the head or longer than the queries.
  void load_queries() {
    const std::int64_t dims = layout_.key_dim;
    const V scale = V::broadcast(task_.parameters->scale);
    for (std::int64_t q = 0; q < padded_queries(queries_); ++q) {
      std::byte* to = query_ + (q / kTileRows * blocks_ * kTileRows + q % kTileRows) * kTileRowBytes;
      const float* from =
          q < queries_ ? row_of(q).query + (task_.kv_head * group_ + q % group_) * dims : row_of(0).query;
      for (std::int64_t d = 0; d < blocks_ * 32; d += 32, to += kTileBytes) {
        const std::int64_t count = q < queries_ ? dims - d : 0;
        const V low = V::load_first(from + (count > 0 ? d : 0), count) * scale;
        const V high = V::load_first(from + (count > 16 ? d + 16 : 0), count - 16) * scale;
        _mm512_store_si512(to, to_bf16(low.v, high.v));
      }
    }
  }

  const std::uint16_t* layer(std::int64_t page) const {
    return reinterpret_cast<const std::uint16_t*>(task_.rows.front().pages[static_cast<std::size_t>(page)] +
                                                  task_.parameters->layer_offset);
  }

  // Of the positions before `last`: what stands behind them in the page may be anything.
  void load_page(std::int64_t index, std::int64_t page, std::int64_t last) {
    const std::uint16_t* keys = layer(page) + task_.kv_head * layout_.key_dim * kPageTokens;
    for (std::int64_t half = 0; half < 2; ++half) {
      std::byte* to = keys_ + (index * 2 + half) * blocks_ * kTileBytes;
      const std::int64_t seen = last - half * 16;
      for (std::int64_t d = 0; d < blocks_ * 32; d += 2, to += kTileRowBytes) {
        const std::uint16_t* from = keys + d * kPageTokens + half * 16;
        const V first = V::load_first_f16(from, d < layout_.key_dim ? seen : 0);
        const V second = V::load_first_f16(from + kPageTokens, d + 1 < layout_.key_dim ? seen : 0);
        _mm512_store_si512(to, pairs_(first.v, second.v));
      }
    }
    const std::uint16_t* values =
        layer(page) + (layout_.kv_heads * layout_.key_dim + task_.kv_head * layout_.value_dim) * kPageTokens;
    for (std::int64_t tile = 0; tile < value_tiles_; ++tile) {
      std::byte* to = values_ + (index * value_tiles_ + tile) * kTileBytes;
      const std::int64_t dims = layout_.value_dim - tile * 16;
      for (std::int64_t position = 0; position < kPageTokens; position += 2, to += kTileRowBytes) {
        const std::uint16_t* from = values + position * layout_.value_dim + tile * 16;
        const V first = V::load_first_f16(from, position < last ? dims : 0);
        const V second = V::load_first_f16(from + layout_.value_dim, position + 1 < last ? dims : 0);
        _mm512_store_si512(to, pairs_(first.v, second.v));
      }
    }
  }

  void run_segment(std::int64_t segment) {
    const std::int64_t begin = segment * kSegmentTokens;
    const Positions all = positions(0, queries_, begin);
    if (all.empty()) return;
    for (std::int64_t page = all.first / kPageTokens; page * kPageTokens < all.last; ++page) {
      load_page(page, segment * kSegmentPages + page, all.last - page * kPageTokens);
    }
    for (std::int64_t q = 0; q < queries_; q += kPairTokens) {
      const std::int64_t count = at_most(kPairTokens, queries_ - q);
      const Positions seen = positions(q, q + count, begin);
      if (seen.empty()) continue;
      const std::int64_t first_page = seen.first / kPageTokens;
      const std::int64_t last_page = (seen.last + kPageTokens - 1) / kPageTokens;
      before_tile_loads();
      for (std::int64_t page = first_page; page < last_page; ++page) score(q, page);
      before_tile_loads();
      for (std::int64_t i = 0; i < kPairTokens; ++i) softmax(q, i, i < count, begin, first_page, last_page);
      before_tile_loads();
      for (std::int64_t tile = 0; tile < value_tiles_; tile += 2) {
        if (tile + 1 < value_tiles_) {
          add_values<true>(tile, first_page, last_page);
        } else {
          add_values<false>(tile, first_page, last_page);
        }
      }
      before_tile_loads();
      for (std::int64_t i = 0; i < count; ++i) join(q + i, i);
    }
  }

  // The names of tiles are part of the instructions, hence no loops.
  void score(std::int64_t first_query, std::int64_t page) {
    const std::byte* query = query_ + first_query / kTileRows * blocks_ * kTileBytes;
    const std::byte* keys = keys_ + page * 2 * blocks_ * kTileBytes;
    _tile_zero(4);
    _tile_zero(5);
    _tile_zero(6);
    _tile_zero(7);
    for (std::int64_t block = 0; block < blocks_; ++block) {
      tile_load<0>(query + block * kTileBytes, kTileRowBytes);
      tile_load<1>(query + (blocks_ + block) * kTileBytes, kTileRowBytes);
      tile_load<2>(keys + block * kTileBytes, kTileRowBytes);
      tile_load<3>(keys + (blocks_ + block) * kTileBytes, kTileRowBytes);
      _tile_dpbf16ps(4, 0, 2);
      _tile_dpbf16ps(5, 0, 3);
      _tile_dpbf16ps(6, 1, 2);
      _tile_dpbf16ps(7, 1, 3);
    }
    float* out = scores_ + page * kPageTokens;
    tile_store<4>(out, kSegmentTokens * 4);
    tile_store<5>(out + 16, kSegmentTokens * 4);
    tile_store<6>(out + kTileRows * kSegmentTokens, kSegmentTokens * 4);
    tile_store<7>(out + kTileRows * kSegmentTokens + 16, kSegmentTokens * 4);
  }

  // Row i of the scores to weights in bfloat16: exponentials relative to the greatest, 0 where the query does not see.
  void softmax(std::int64_t first_query, std::int64_t i, bool is_query, std::int64_t begin, std::int64_t first_page,
               std::int64_t last_page) {
    const Positions p = is_query ? positions(first_query + i, begin) : Positions{0, 0};
    const float* scores = scores_ + i * kSegmentTokens;
    std::byte* to = weights_ + (i / kTileRows * kTileRows + i % kTileRows) * kTileRowBytes;
    const float lowest = -__builtin_inff();
    V most = V::broadcast(lowest);
    const auto kept = [&](std::int64_t at, V x, float other) { return keep(x, p.first - at, p.last - at, other); };
    const auto sees_all = [&p](std::int64_t at, std::int64_t count) { return p.first <= at && at + count <= p.last; };
    for (std::int64_t at = p.first / 16 * 16; at < p.last; at += 16) {
      const V score = V::load(scores + at);
      most = max(sees_all(at, 16) ? score : kept(at, score, lowest), most);
    }
    const float here = greatest(most);
    const V base = V::broadcast(here);
    V sums = V::broadcast(0);
    for (std::int64_t page = first_page; page < last_page; ++page) {
      const std::int64_t at = page * kPageTokens;
      V low = V::broadcast(0);
      V high = low;
      if (at < p.last && at + kPageTokens > p.first) {
        low = exponential(V::load(scores + at) - base);
        high = exponential(V::load(scores + at + 16) - base);
        if (!sees_all(at, kPageTokens)) {
          low = kept(at, low, 0);
          high = kept(at + 16, high, 0);
        }
        sums = sums + (low + high);
      }
      _mm512_store_si512(to + page * 2 * kTileBytes, to_bf16(low.v, high.v));
    }
    here_greatest_[i] = here;
    here_sum_[i] = sum(sums);
  }

  template <bool kTwo>
  void add_values(std::int64_t tile, std::int64_t first_page, std::int64_t last_page) {
    _tile_zero(4);
    _tile_zero(6);
    if constexpr (kTwo) {
      _tile_zero(5);
      _tile_zero(7);
    }
    for (std::int64_t page = first_page; page < last_page; ++page) {
      const std::byte* values = values_ + (page * value_tiles_ + tile) * kTileBytes;
      tile_load<0>(weights_ + page * 2 * kTileBytes, kTileRowBytes);
      tile_load<1>(weights_ + (page * 2 + 1) * kTileBytes, kTileRowBytes);
      tile_load<2>(values, kTileRowBytes);
      _tile_dpbf16ps(4, 0, 2);
      _tile_dpbf16ps(6, 1, 2);
      if constexpr (kTwo) {
        tile_load<3>(values + kTileBytes, kTileRowBytes);
        _tile_dpbf16ps(5, 0, 3);
        _tile_dpbf16ps(7, 1, 3);
      }
    }
    const std::int64_t stride = value_step_ * 4;
    float* out = here_ + tile * 16;
    tile_store<4>(out, stride);
    tile_store<6>(out + kTileRows * value_step_, stride);
    if constexpr (kTwo) {
      tile_store<5>(out + 16, stride);
      tile_store<7>(out + kTileRows * value_step_ + 16, stride);
    }
  }

  // What the query has of earlier segments takes in row i of this one.
  void join(std::int64_t query, std::int64_t i) {
    join_query<V>({greatest_ + query, sum_ + query, total_ + query * value_step_}, here_greatest_[i], here_sum_[i],
                  here_ + i * value_step_, value_step_);
  }

  void write_out() const {
    for (std::int64_t q = 0; q < queries_; ++q) {
      write_query<V>(total_ + q * value_step_, sum_[q],
                     row_of(q).out + (task_.kv_head * group_ + q % group_) * layout_.value_dim, layout_.value_dim);
    }
  }

  const AttentionTask& task_;
  const KvLayout& layout_;
  std::int64_t group_;
  std::int64_t queries_;
  std::int64_t blocks_;  // of 32 dims of a key
  std::int64_t value_tiles_;
  std::int64_t value_step_;
  Pairs pairs_;
  std::byte* query_;    // [16 queries][block] tiles
  std::byte* keys_;     // [page][16 positions][block] tiles
  std::byte* values_;   // [page][16 dims] tiles
  std::byte* weights_;  // [page][16 queries] tiles
  float* scores_;       // [32 queries][kSegmentTokens]
  float* here_;         // [32 queries][value_step_], of one segment
  float here_greatest_[kPairTokens];
  float here_sum_[kPairTokens];
  float* greatest_;  // of the segments so far, as in AttentionState
  float* sum_;
  float* total_;
};

void attend_bulk(const AttentionTask& task) {
  const TilesInUse tiles;
  BulkAttention(task).run();
}

// The other rows.
struct ByAvx512 {
  static void store_kv(const KvLayout& layout, std::byte* page, std::int64_t slot, const float* key,
                       const float* value) {
    kAvx512Attention.store_kv(layout, page, slot, key, value);
  }
  static void attend(const AttentionTask& task) { kAvx512Attention.attend(task); }
  static void attend_partly(const AttentionTask& task, float* state) { kAvx512Attention.attend_partly(task, state); }
  static void join(const AttentionTask& task, float* states, std::int64_t step, std::int64_t count) {
    kAvx512Attention.join(task, states, step, count);
  }
};

}  // namespace

constinit const AttentionKernels kAmxAttention = {.tile_queries = 12,
                                                  .store_kv = ByAvx512::store_kv,
                                                  .attend = ByAvx512::attend,
                                                  .attend_partly = ByAvx512::attend_partly,
                                                  .join = ByAvx512::join,
                                                  .bulk_scratch_bytes = BulkAttention::scratch_bytes,
                                                  .attend_bulk = attend_bulk};

}  // namespace glmhost::kernels
