// Attention over sixteen lanes, for any of the lane types. Internal.
//
// Scores: a vector is 16 positions of one query, summed over the key's dims in order, so that no vector needs a
// horizontal sum. Values: a vector is 16 dims of one query, summed over positions in order. Several queries share each
// load of a key or a value; what is computed for one query does not depend on the others.
#pragma once

#include "inference/kernels/exponential.h"
#include "inference/kernels/float_order.h"
#include "inference/kernels/kernel_table.h"

namespace glmhost::kernels {
namespace {

template <class V>
inline V load_lanes(const float* from) {
  return V::load(from);
}
template <class V>
inline V load_lanes(const std::uint16_t* from) {
  return V::load_f16(from);
}
template <class V>
inline V load_first_lanes(const float* from, std::int64_t n) {
  return V::load_first(from, n);
}
template <class V>
inline V load_first_lanes(const std::uint16_t* from, std::int64_t n) {
  return V::load_first_f16(from, n);
}

constexpr std::int64_t at_most(std::int64_t a, std::int64_t b) {
  return a < b ? a : b;
}
constexpr std::int64_t at_least(std::int64_t a, std::int64_t b) {
  return a > b ? a : b;
}

// A range of positions, half open.
struct Positions {
  std::int64_t first;
  std::int64_t last;
  bool empty() const { return first >= last; }
  bool operator==(const Positions& other) const { return first == other.first && last == other.last; }
};

inline Positions positions_of(const AttentionRow& row, std::int64_t window) {
  return {window > 0 ? at_least(0, row.position - window + 1) : 0, row.position + 1};
}

inline Positions within(const Positions& positions, std::int64_t begin, std::int64_t length) {
  return {at_least(positions.first - begin, 0), at_most(positions.last - begin, length)};
}

// attention_state_floats() floats.
struct AttentionState {
  AttentionState(float* at, std::int64_t queries)
      : greatest(at), sum(at + (queries + 15) / 16 * 16), values(at + (queries + 15) / 16 * 16 * 2) {}
  float* greatest;
  float* sum;
  float* values;
};

// What one query has of some positions, in an AttentionState.
struct QueryState {
  float* greatest;
  float* sum;
  float* values;
};

// total, of earlier positions, takes in what later ones left: `step` values.
template <class V>
inline void join_query(const QueryState& total, float more_greatest, float more_sum, const float* more_values,
                       std::int64_t step) {
  if (more_sum == 0) return;
  if (*total.sum == 0) {
    *total.greatest = more_greatest;
    *total.sum = more_sum;
    for (std::int64_t d = 0; d < step; d += 16) V::load(more_values + d).store(total.values + d);
    return;
  }
  const float now = more_greatest > *total.greatest ? more_greatest : *total.greatest;
  const V factor = exponential(V::broadcast(*total.greatest) - V::broadcast(now));
  const V more_factor = exponential(V::broadcast(more_greatest) - V::broadcast(now));
  fma(V::broadcast(*total.sum), factor, V::broadcast(more_sum) * more_factor).store_first(total.sum, 1);
  for (std::int64_t d = 0; d < step; d += 16) {
    fma(V::load(total.values + d), factor, V::load(more_values + d) * more_factor).store(total.values + d);
  }
  *total.greatest = now;
}

// values / sum, `dims` of them.
template <class V>
inline void write_query(const float* values, float sum, float* out, std::int64_t dims) {
  const V factor = V::broadcast(1.0F / sum);
  for (std::int64_t d = 0; d < dims; d += 16) {
    (V::load(values + d) * factor).store_first(out + d, at_most(16, dims - d));
  }
}

// E: std::uint16_t (half) or float. kTile: queries whose accumulators fit the registers.
template <class V, class E, int kTile>
class AttentionOver {
 public:
  explicit AttentionOver(const AttentionTask& task)
      : task_(task),
        layout_(task.parameters->layout),
        group_(queries_per_kv_head(*task.parameters)),
        queries_(group_ * static_cast<std::int64_t>(task.rows.size())),
        value_step_(padded_value_dim(layout_)),
        query_(reinterpret_cast<float*>(task.scratch)),
        scores_(query_ + rounded() * layout_.key_dim),
        sums_(scores_ + rounded() * kPageTokens),
        correction_(sums_ + rounded() * 16),
        segment_(correction_ + rounded(), queries_),
        total_(correction_ + rounded() + attention_state_floats(layout_, queries_)) {
    load_queries();
  }

  void run() {
    AttentionState total(total_, queries_);
    run_into(total);
    write_out(total);
  }

  void run_into(AttentionState total) {
    for (std::int64_t q = 0; q < queries_; ++q) total.sum[q] = 0;
    for (std::int64_t segment = task_.first_segment; segment < task_.last_segment; ++segment) {
      run_segment(segment);
      join(total, segment_);
    }
  }

  // Joins `count` states, `step` floats apart.
  void join_states(float* states, std::int64_t step, std::int64_t count) {
    AttentionState total(total_, queries_);
    for (std::int64_t q = 0; q < queries_; ++q) total.sum[q] = 0;
    for (std::int64_t i = 0; i < count; ++i) join(total, AttentionState(states + i * step, queries_));
    write_out(total);
  }

 private:
  std::int64_t rounded() const { return (queries_ + 15) / 16 * 16; }
  const AttentionRow& row_of(std::int64_t query) const { return task_.rows[static_cast<std::size_t>(query / group_)]; }
  std::int64_t window() const { return task_.parameters->window; }

  // Tiles of nearly equal width.
  std::int64_t tiles(std::int64_t queries) const { return (queries + kTile - 1) / kTile; }
  std::int64_t tile_begin(std::int64_t tile, std::int64_t queries) const { return queries * tile / tiles(queries); }

  // Scaled, and tile by tile: [dim][query of the tile].
  void load_queries() {
    const std::int64_t dims = layout_.key_dim;
    for (std::int64_t tile = 0; tile < tiles(queries_); ++tile) {
      const std::int64_t begin = tile_begin(tile, queries_);
      const std::int64_t width = tile_begin(tile + 1, queries_) - begin;
      for (std::int64_t i = 0; i < width; ++i) {
        const std::int64_t head = task_.kv_head * group_ + (begin + i) % group_;
        const float* from = row_of(begin + i).query + head * dims;
        for (std::int64_t d = 0; d < dims; ++d) {
          query_[begin * dims + d * width + i] = from[d] * task_.parameters->scale;
        }
      }
    }
  }

  const E* keys(std::int64_t page) const { return layer(page) + task_.kv_head * layout_.key_dim * kPageTokens; }
  const E* values(std::int64_t page) const {
    return layer(page) + (layout_.kv_heads * layout_.key_dim + task_.kv_head * layout_.value_dim) * kPageTokens;
  }
  const E* layer(std::int64_t page) const {
    return reinterpret_cast<const E*>(task_.rows.front().pages[static_cast<std::size_t>(page)] +
                                      task_.parameters->layer_offset);
  }

  void run_segment(std::int64_t segment) {
    const std::int64_t begin = segment * kSegmentTokens;
    Positions all{kSegmentTokens, 0};
    for (const AttentionRow& row : task_.rows) {
      const Positions p = within(positions_of(row, window()), begin, kSegmentTokens);
      if (!p.empty()) all = {at_most(all.first, p.first), at_least(all.last, p.last)};
    }
    const V zero = V::broadcast(0);
    for (std::int64_t q = 0; q < queries_; ++q) {
      segment_.greatest[q] = -__builtin_inff();
      zero.store(sums_ + q * 16);
      for (std::int64_t d = 0; d < value_step_; d += 16) zero.store(segment_.values + q * value_step_ + d);
    }
    if (!all.empty()) {
      const std::int64_t last_page = (begin + all.last - 1) / kPageTokens;
      for (std::int64_t page = (begin + all.first) / kPageTokens; page <= last_page; ++page) run_page(page);
    }
    for (std::int64_t q = 0; q < queries_; ++q) segment_.sum[q] = sum(V::load(sums_ + q * 16));
  }

  void run_page(std::int64_t page) {
    for (std::int64_t tile = 0; tile < tiles(queries_); ++tile) {
      const std::int64_t begin = tile_begin(tile, queries_);
      score_tile<kTile>(tile_begin(tile + 1, queries_) - begin, keys(page), begin);
    }
    const std::int64_t begin = page * kPageTokens;
    bool same = true;
    const Positions first = within(positions_of(task_.rows.front(), window()), begin, kPageTokens);
    for (std::int64_t q = 0; q < queries_; ++q) {
      const Positions p = within(positions_of(row_of(q), window()), begin, kPageTokens);
      same = same && p == first;
      if (!p.empty()) softmax(q, p);
    }
    if (same) {
      add_values(0, queries_, values(page), first);
      return;
    }
    for (std::int64_t q = 0; q < queries_; q += group_) {
      const Positions p = within(positions_of(row_of(q), window()), begin, kPageTokens);
      if (!p.empty()) add_values(q, group_, values(page), p);
    }
  }

  template <int kWidth>
  void score_tile(std::int64_t width, const E* keys, std::int64_t begin) {
    if constexpr (kWidth > 1) {
      if (width != kWidth) return score_tile<kWidth - 1>(width, keys, begin);
    }
    constexpr int kVectors = kWidth * 2 <= kTile ? 2 : kTile >= 12 ? 2 : 1;  // of positions at a time
    const float* query = query_ + begin * layout_.key_dim;
    float* out = scores_ + begin * kPageTokens;
    for (std::int64_t half = 0; half < kPageTokens; half += kVectors * 16) {
      V acc[kWidth][kVectors];
      for (int i = 0; i < kWidth; ++i) {
        for (int v = 0; v < kVectors; ++v) acc[i][v] = V::broadcast(0);
      }
      for (std::int64_t d = 0; d < layout_.key_dim; ++d) {
        V key[kVectors];
        for (int v = 0; v < kVectors; ++v) key[v] = load_lanes<V>(keys + d * kPageTokens + half + v * 16);
        for (int i = 0; i < kWidth; ++i) {
          const V q = V::broadcast(query[d * kWidth + i]);
          for (int v = 0; v < kVectors; ++v) acc[i][v] = fma(key[v], q, acc[i][v]);
        }
      }
      for (int i = 0; i < kWidth; ++i) {
        for (int v = 0; v < kVectors; ++v) acc[i][v].store(out + i * kPageTokens + half + v * 16);
      }
    }
  }

  // Scores to exponentials relative to the greatest so far, and the factor that brings older sums to the same measure.
  void softmax(std::int64_t q, const Positions& p) {
    float* scores = scores_ + q * kPageTokens;
    const float lowest = -__builtin_inff();
    const V low = V::load(scores);
    const V high = V::load(scores + 16);
    const float here = greatest(max(keep(low, p.first, p.last, lowest), keep(high, p.first - 16, p.last - 16, lowest)));
    const float before = segment_.greatest[q];
    const float now = here > before ? here : before;
    const V base = V::broadcast(now);
    const V e_low = keep(exponential(low - base), p.first, p.last, 0);
    const V e_high = keep(exponential(high - base), p.first - 16, p.last - 16, 0);
    const V factor = exponential(V::broadcast(before) - base);
    e_low.store(scores);
    e_high.store(scores + 16);
    fma(V::load(sums_ + q * 16), factor, e_low + e_high).store(sums_ + q * 16);
    factor.store_first(correction_ + q, 1);
    segment_.greatest[q] = now;
  }

  void add_values(std::int64_t first_query, std::int64_t count, const E* values, const Positions& p) {
    for (std::int64_t tile = 0; tile < tiles(count); ++tile) {
      const std::int64_t begin = tile_begin(tile, count);
      value_tile<kTile>(tile_begin(tile + 1, count) - begin, values, first_query + begin, p);
    }
  }

  template <int kWidth>
  void value_tile(std::int64_t width, const E* values, std::int64_t begin, const Positions& p) {
    if constexpr (kWidth > 1) {
      if (width != kWidth) return value_tile<kWidth - 1>(width, values, begin, p);
    }
    constexpr int kVectors = kWidth * 4 <= kTile * 2 && kTile >= 12 ? 4 : kWidth * 2 <= kTile ? 2 : 1;  // of dims
    const std::int64_t dims = layout_.value_dim;
    std::int64_t d = 0;
    for (; d + kVectors * 16 <= dims; d += kVectors * 16) {
      value_vectors<kWidth, kVectors>(values + d, begin, d, p, [](const E* at) { return load_lanes<V>(at); });
    }
    for (; d + 16 <= dims; d += 16) {
      value_vectors<kWidth, 1>(values + d, begin, d, p, [](const E* at) { return load_lanes<V>(at); });
    }
    if (d < dims) {
      value_vectors<kWidth, 1>(values + d, begin, d, p,
                               [n = dims - d](const E* at) { return load_first_lanes<V>(at, n); });
    }
  }

  template <int kWidth, int kVectors, class Load>
  void value_vectors(const E* values, std::int64_t begin, std::int64_t d, const Positions& p, const Load& load) {
    float* out = segment_.values + begin * value_step_ + d;
    const float* weights = scores_ + begin * kPageTokens;
    V acc[kWidth][kVectors];
    for (int i = 0; i < kWidth; ++i) {
      const V factor = V::broadcast(correction_[begin + i]);
      for (int v = 0; v < kVectors; ++v) acc[i][v] = V::load(out + i * value_step_ + v * 16) * factor;
    }
    for (std::int64_t position = p.first; position < p.last; ++position) {
      V value[kVectors];
      for (int v = 0; v < kVectors; ++v) value[v] = load(values + position * layout_.value_dim + v * 16);
      for (int i = 0; i < kWidth; ++i) {
        const V weight = V::broadcast(weights[i * kPageTokens + position]);
        for (int v = 0; v < kVectors; ++v) acc[i][v] = fma(value[v], weight, acc[i][v]);
      }
    }
    for (int i = 0; i < kWidth; ++i) {
      for (int v = 0; v < kVectors; ++v) acc[i][v].store(out + i * value_step_ + v * 16);
    }
  }

  // total, of earlier positions, takes in `more`.
  void join(AttentionState& total, const AttentionState& more) const {
    for (std::int64_t q = 0; q < queries_; ++q) {
      join_query<V>({total.greatest + q, total.sum + q, total.values + q * value_step_}, more.greatest[q], more.sum[q],
                    more.values + q * value_step_, value_step_);
    }
  }

  void write_out(const AttentionState& total) const {
    for (std::int64_t q = 0; q < queries_; ++q) {
      const std::int64_t head = task_.kv_head * group_ + q % group_;
      write_query<V>(total.values + q * value_step_, total.sum[q], row_of(q).out + head * layout_.value_dim,
                     layout_.value_dim);
    }
  }

  const AttentionTask& task_;
  const KvLayout& layout_;
  std::int64_t group_;
  std::int64_t queries_;
  std::int64_t value_step_;
  float* query_;
  float* scores_;      // [query][kPageTokens], later their exponentials
  float* sums_;        // [query][16]
  float* correction_;  // [query]
  AttentionState segment_;
  float* total_;
};

template <class V, int kTile>
struct Attention {
  static void store_kv(const KvLayout& layout, std::byte* layer_page, std::int64_t slot, const float* key,
                       const float* value) {
    if (layout.type == KvType::f16) {
      store(layout, reinterpret_cast<std::uint16_t*>(layer_page), slot, key, value);
    } else {
      store(layout, reinterpret_cast<float*>(layer_page), slot, key, value);
    }
  }

  static void attend(const AttentionTask& task) {
    if (task.parameters->layout.type == KvType::f16) {
      AttentionOver<V, std::uint16_t, kTile>(task).run();
    } else {
      AttentionOver<V, float, kTile>(task).run();
    }
  }

  static void attend_partly(const AttentionTask& task, float* state) {
    const AttentionState total(state,
                               queries_per_kv_head(*task.parameters) * static_cast<std::int64_t>(task.rows.size()));
    if (task.parameters->layout.type == KvType::f16) {
      AttentionOver<V, std::uint16_t, kTile>(task).run_into(total);
    } else {
      AttentionOver<V, float, kTile>(task).run_into(total);
    }
  }

  static void join(const AttentionTask& task, float* states, std::int64_t step, std::int64_t count) {
    AttentionOver<V, float, kTile>(task).join_states(states, step, count);
  }

 private:
  template <class E>
  static void store(const KvLayout& layout, E* page, std::int64_t slot, const float* key, const float* value) {
    const std::int64_t keys = layout.kv_heads * layout.key_dim;
    for (std::int64_t k = 0; k < keys; k += 16) {
      const std::int64_t n = at_most(16, keys - k);
      E converted[16];
      convert(key + k, n, converted);
      for (std::int64_t i = 0; i < n; ++i) page[(k + i) * kPageTokens + slot] = converted[i];
    }
    E* values = page + keys * kPageTokens;
    for (std::int64_t head = 0; head < layout.kv_heads; ++head) {
      for (std::int64_t d = 0; d < layout.value_dim; d += 16) {
        convert(value + head * layout.value_dim + d, at_most(16, layout.value_dim - d),
                values + (head * kPageTokens + slot) * layout.value_dim + d);
      }
    }
  }

  static void convert(const float* from, std::int64_t n, std::uint16_t* to) {
    V::load_first(from, n).store_first_f16(to, n);
  }
  static void convert(const float* from, std::int64_t n, float* to) { V::load_first(from, n).store_first(to, n); }
};

template <class V, int kTile>
constexpr AttentionKernels attention_table() {
  using A = Attention<V, kTile>;
  return {kTile, A::store_kv, A::attend, A::attend_partly, A::join};
}

}  // namespace
}  // namespace glmhost::kernels
