#include "inference/kernels/limit_kernels.h"
#include "inference/kernels/tiles_amx.h"

namespace glmhost::kernels {
namespace {

// Four products in flight, as in the engine's own.
std::uint64_t bf16_tiles(std::uint64_t rounds, int seed) {
  const TilesInUse in_use;
  alignas(64) std::byte tile[kTileBytes];
  std::memset(tile, seed & 1, sizeof tile);
  before_tile_loads();
  tile_load<0>(tile, kTileRowBytes);
  tile_load<1>(tile, kTileRowBytes);
  tile_load<2>(tile, kTileRowBytes);
  tile_load<3>(tile, kTileRowBytes);
  _tile_zero(4);
  _tile_zero(5);
  _tile_zero(6);
  _tile_zero(7);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    _tile_dpbf16ps(4, 0, 2);
    _tile_dpbf16ps(5, 0, 3);
    _tile_dpbf16ps(6, 1, 2);
    _tile_dpbf16ps(7, 1, 3);
  }
  tile_store<4>(tile, kTileRowBytes);
  keep_result(tile);
  return rounds * 4 * kTileRows * kTileRows * 32 * 2;
}

}  // namespace

const LimitKernels kAmxLimits = {
    [](const std::byte* from, std::size_t bytes) { return kAvx512Limits.read(from, bytes); },
    [](std::uint64_t rounds, int seed) { return kAvx512Limits.int8(rounds, seed); },
    [](std::uint64_t rounds, int seed) { return kAvx512Limits.f32(rounds, seed); }, bf16_tiles};

}  // namespace glmhost::kernels
