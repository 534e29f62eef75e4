#include <immintrin.h>

#include "inference/kernels/limit_kernels.h"

namespace glmhost::kernels {
namespace {

std::uint64_t read(const std::byte* from, std::size_t bytes) {
  __m512i sums[8] = {};
  for (std::size_t at = 0; at < bytes; at += 512) {
    for (std::size_t i = 0; i < 8; ++i) sums[i] = _mm512_xor_si512(sums[i], _mm512_loadu_si512(from + at + i * 64));
  }
  keep_result(sums);
  return static_cast<std::uint64_t>(_mm512_reduce_add_epi64(sums[0]));
}

std::uint64_t int8(std::uint64_t rounds, int seed) {
  constexpr int kChains = 16;
  __m512i sums[kChains] = {};
  const __m512i a = _mm512_set1_epi8(static_cast<char>(seed));
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (__m512i& sum : sums) sum = _mm512_dpbusd_epi32(sum, a, a);
  }
  keep_result(sums);
  return rounds * kChains * 64 * 2;
}

std::uint64_t f32(std::uint64_t rounds, int seed) {
  constexpr int kChains = 16;
  __m512 sums[kChains];
  for (__m512& sum : sums) sum = _mm512_set1_ps(static_cast<float>(seed));
  const __m512 a = _mm512_set1_ps(0.5F);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(sum, a, a);
  }
  keep_result(sums);
  return rounds * kChains * 16 * 2;
}

}  // namespace

const LimitKernels kAvx512Limits = {read, int8, f32};

}  // namespace glmhost::kernels
