// What products and attention on the matrix unit share: tiles of 16 rows of 64 bytes, and bfloat16. Internal; see
// lanes_scalar.h for the anonymous namespace.
//
// A product of tiles adds, for each of 16 rows of the first (32 columns in bfloat16) and 16 columns of the second, the
// products of 32 values to a float32 sum. The second lies as pairs of its rows: [16 pairs][16 columns][2].
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "inference/kernels/lanes_avx512.h"

namespace glmhost::kernels {
namespace {

constexpr int kTileRows = 16;
constexpr std::int64_t kTileRowBytes = 64;
constexpr std::int64_t kTileBytes = kTileRows * kTileRowBytes;

struct alignas(64) TileConfiguration {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};

// All eight tiles are alike.
constexpr TileConfiguration kTiles = [] {
  TileConfiguration c;
  for (int tile = 0; tile < 8; ++tile) {
    c.rows[tile] = kTileRows;
    c.row_bytes[tile] = kTileRowBytes;
  }
  return c;
}();

// As long as it lives, this thread may use tiles; afterwards the system need not save them.
struct TilesInUse {
  TilesInUse() { _tile_loadconfig(&kTiles); }
  ~TilesInUse() { _tile_release(); }
  TilesInUse(const TilesInUse&) = delete;
  TilesInUse& operator=(const TilesInUse&) = delete;
};

// As _tile_loadd and _tile_stored, which GCC 12 writes with a stride of 32 bits where `long` has no more (Windows). The
// stride is in bytes.
template <int kTile>
inline void tile_load(const void* from, std::int64_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(kTile));
}
template <int kTile>
inline void tile_store(void* to, std::int64_t stride) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "i"(kTile) : "memory");
}

// The compiler does not know that tiles are loaded from memory.
inline void before_tile_loads() {
  asm volatile("" ::: "memory");
}

// Two times 16 floats to bfloat16, rounded to nearest even; `low` first.
inline __m512i to_bf16(__m512 low, __m512 high) {
  const __m512bh halves = _mm512_cvtne2ps_pbh(high, low);
  __m512i bits;
  std::memcpy(&bits, &halves, sizeof bits);
  return bits;
}

// The same 32 values as 16 pairs: low[0], high[0], low[1], ...
class Pairs {
 public:
  Pairs() {
    alignas(64) std::uint16_t order[32];
    for (int i = 0; i < 16; ++i) {
      order[2 * i] = static_cast<std::uint16_t>(i);
      order[2 * i + 1] = static_cast<std::uint16_t>(i + 16);
    }
    order_ = _mm512_load_si512(order);
  }
  __m512i operator()(__m512 low, __m512 high) const { return _mm512_permutexvar_epi16(order_, to_bf16(low, high)); }

 private:
  __m512i order_;
};

}  // namespace
}  // namespace glmhost::kernels
