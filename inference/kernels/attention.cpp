#include "inference/kernels/attention.h"

#include <algorithm>
#include <string>
#include <vector>

#include "inference/error.h"
#include "inference/kernels/attention_rows.h"
#include "inference/kernels/float_order.h"
#include "inference/kernels/kernel_table.h"

namespace glmhost::kernels {
namespace {

const AttentionKernels& selected() {
  static const AttentionKernels& kernels = attention_kernels(selected_instruction_set());
  return kernels;
}

struct SegmentRange {
  std::int64_t first;
  std::int64_t last;  // one past
};

SegmentRange segments_of(std::span<const AttentionRow> rows, std::int64_t window) {
  SegmentRange range{rows.front().position / kSegmentTokens, 0};
  for (const AttentionRow& row : rows) {
    const std::int64_t first = window > 0 ? std::max<std::int64_t>(0, row.position - window + 1) : 0;
    range.first = std::min(range.first, first / kSegmentTokens);
    range.last = std::max(range.last, row.position / kSegmentTokens + 1);
  }
  return range;
}

// Queries that a task of bulk rows is made of at least: enough to bring keys and values into the unit's form for.
constexpr std::int64_t kBulkQueries = 192;

// Rows that follow one another and share their pages, as many as a tile takes.
std::vector<std::span<const AttentionRow>> tiles_of(std::span<const AttentionRow> rows, std::int64_t tile_rows) {
  std::vector<std::span<const AttentionRow>> tiles;
  std::size_t begin = 0;
  for (std::size_t i = 1; i <= rows.size(); ++i) {
    if (i < rows.size() && rows[i].pages.data() == rows[begin].pages.data() &&
        static_cast<std::int64_t>(i - begin) < tile_rows) {
      continue;
    }
    tiles.push_back(rows.subspan(begin, i - begin));
    begin = i;
  }
  return tiles;
}

void check(const AttentionParameters& p, std::span<const AttentionRow> rows) {
  if (p.layout.kv_heads <= 0 || p.heads % p.layout.kv_heads != 0) {
    throw Error(ErrorKind::bad_argument, std::to_string(p.heads) + " query heads cannot share " +
                                             std::to_string(p.layout.kv_heads) + " key-value heads evenly.");
  }
  for (const AttentionRow& row : rows) {
    if (row.position < 0 || row.position / kPageTokens >= std::ssize(row.pages)) {
      throw Error(ErrorKind::bad_argument, "Position " + std::to_string(row.position) + " lies outside of the " +
                                               std::to_string(row.pages.size()) + " pages of its sequence.");
    }
  }
}

}  // namespace

void store_kv(const KvLayout& layout, std::byte* layer_page, std::int64_t slot, const float* key, const float* value) {
  selected().store_kv(layout, layer_page, slot, key, value);
}

void attention(const AttentionParameters& parameters, std::span<const AttentionRow> rows, ThreadPool& pool) {
  attention_with(selected(), parameters, rows, pool);
}

namespace {

void attend_bulk(const AttentionKernels& kernels, const AttentionParameters& parameters,
                 std::span<const AttentionRow> rows, ThreadPool& pool) {
  const std::int64_t group = queries_per_kv_head(parameters);
  const std::int64_t kv_heads = parameters.layout.kv_heads;
  const std::int64_t tile_rows = std::max<std::int64_t>(1, kBulkQueries / group);
  const std::vector<std::span<const AttentionRow>> tiles = tiles_of(rows, tile_rows);
  pool.reserve_scratch(kernels.bulk_scratch_bytes(parameters.layout, tile_rows * group));
  const std::int64_t count = std::ssize(tiles) * kv_heads;
  pool.for_range(count, 1, [&](std::int64_t begin, std::int64_t end, int thread) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t item = count - 1 - i;  // the longest first
      const std::span<const AttentionRow> tile = tiles[static_cast<std::size_t>(item / kv_heads)];
      const SegmentRange all = segments_of(tile, parameters.window);
      kernels.attend_bulk({&parameters, tile, item % kv_heads, all.first, all.last, pool.scratch(thread)});
    }
  });
}

}  // namespace

void attention_with(const AttentionKernels& kernels, const AttentionParameters& parameters,
                    std::span<const AttentionRow> rows, ThreadPool& pool) {
  check(parameters, rows);
  if (kernels.attend_bulk != nullptr && parameters.layout.type == KvType::f16) {
    const auto others = std::find_if(rows.begin(), rows.end(), [](const AttentionRow& row) { return !row.bulk; });
    const auto bulk = static_cast<std::size_t>(others - rows.begin());
    if (bulk > 0) attend_bulk(kernels, parameters, rows.first(bulk), pool);
    rows = rows.subspan(bulk);
  }
  if (rows.empty()) return;
  const std::int64_t group = queries_per_kv_head(parameters);
  const std::int64_t kv_heads = parameters.layout.kv_heads;
  const std::int64_t tile_rows = std::max<std::int64_t>(1, kernels.tile_queries / group);
  const std::vector<std::span<const AttentionRow>> tiles = tiles_of(rows, tile_rows);
  const std::int64_t queries = tile_rows * group;

  // One entry for each piece of work: a tile, and one of its segments where they are split.
  struct Piece {
    std::size_t tile;
    SegmentRange segments;
    std::int64_t state;  // its place among the states
  };
  std::vector<Piece> whole;
  std::vector<Piece> split;
  for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
    const SegmentRange all = segments_of(tiles[tile], parameters.window);
    whole.push_back({tile, all, std::ssize(split)});
    for (std::int64_t s = all.first; s < all.last; ++s) split.push_back({tile, {s, s + 1}, std::ssize(split)});
  }
  // A long sequence that is alone is shared out by segments: its kv heads may be fewer than the threads.
  constexpr std::int64_t kPiecesPerThread = 4;
  const bool splits =
      pool.size() > 1 && split.size() > whole.size() && std::ssize(whole) * kv_heads < kPiecesPerThread * pool.size();
  const std::int64_t state_floats = attention_state_floats(parameters.layout, queries);
  pool.reserve_scratch(
      attention_scratch_bytes(parameters.layout, queries),
      splits ? static_cast<std::size_t>(std::ssize(split) * kv_heads * state_floats) * sizeof(float) : 0);
  auto* states = reinterpret_cast<float*>(pool.shared_scratch());
  const auto task_of = [&](const Piece& piece, std::int64_t kv_head, int thread) -> AttentionTask {
    return {&parameters, tiles[piece.tile], kv_head, piece.segments.first, piece.segments.last, pool.scratch(thread)};
  };
  const auto states_of = [&](const Piece& piece, std::int64_t kv_head) {
    return states + (kv_head * std::ssize(split) + piece.state) * state_floats;
  };

  if (!splits) {
    // From the last to the first: the longest come first, so that no thread begins one when the others are done.
    const std::int64_t count = std::ssize(whole) * kv_heads;
    pool.for_range(count, 1, [&](std::int64_t begin, std::int64_t end, int thread) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t item = count - 1 - i;
        kernels.attend(task_of(whole[static_cast<std::size_t>(item / kv_heads)], item % kv_heads, thread));
      }
    });
    return;
  }
  pool.for_range(std::ssize(split) * kv_heads, 1, [&](std::int64_t begin, std::int64_t end, int thread) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Piece& piece = split[static_cast<std::size_t>(i / kv_heads)];
      kernels.attend_partly(task_of(piece, i % kv_heads, thread), states_of(piece, i % kv_heads));
    }
  });
  pool.for_range(std::ssize(whole) * kv_heads, kv_heads, [&](std::int64_t begin, std::int64_t end, int thread) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Piece& piece = whole[static_cast<std::size_t>(i / kv_heads)];
      kernels.join(task_of(piece, i % kv_heads, thread), states_of(piece, i % kv_heads), state_floats,
                   piece.segments.last - piece.segments.first);
    }
  });
}

}  // namespace glmhost::kernels
