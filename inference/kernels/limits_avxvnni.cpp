#include <immintrin.h>

#include "inference/kernels/limit_kernels.h"

namespace glmhost::kernels {
namespace {

std::uint64_t int8(std::uint64_t rounds, int seed) {
  constexpr int kChains = 12;
  __m256i sums[kChains] = {};
  const __m256i a = _mm256_set1_epi8(static_cast<char>(seed));
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (__m256i& sum : sums) sum = _mm256_dpbusd_avx_epi32(sum, a, a);
  }
  keep_result(sums);
  return rounds * kChains * 32 * 2;
}

}  // namespace

const LimitKernels kAvxVnniLimits = {
    [](const std::byte* from, std::size_t bytes) { return kAvx2Limits.read(from, bytes); }, int8,
    [](std::uint64_t rounds, int seed) { return kAvx2Limits.f32(rounds, seed); }};

}  // namespace glmhost::kernels
