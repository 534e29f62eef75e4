#include <immintrin.h>

#include "inference/kernels/limit_kernels.h"

namespace glmhost::kernels {
namespace {

std::uint64_t read(const std::byte* from, std::size_t bytes) {
  __m256i sums[8] = {};
  for (std::size_t at = 0; at < bytes; at += 256) {
    for (std::size_t i = 0; i < 8; ++i) {
      sums[i] = _mm256_xor_si256(sums[i], _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + at + i * 32)));
    }
  }
  keep_result(sums);
  return static_cast<std::uint64_t>(_mm256_extract_epi64(sums[0], 0));
}

// As in the products without VNNI: pairs of bytes to 16 bits, these to 32 bits.
std::uint64_t int8(std::uint64_t rounds, int seed) {
  constexpr int kChains = 8;
  __m256i sums[kChains] = {};
  __m256i a = _mm256_set1_epi8(static_cast<char>(seed & 7));
  const __m256i ones = _mm256_set1_epi16(1);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    asm volatile("" : "+x"(a));
    for (__m256i& sum : sums) {
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(a, _mm256_add_epi8(a, sum)), ones));
    }
  }
  keep_result(sums);
  return rounds * kChains * 32 * 2;
}

std::uint64_t f32(std::uint64_t rounds, int seed) {
  constexpr int kChains = 10;
  __m256 sums[kChains];
  for (__m256& sum : sums) sum = _mm256_set1_ps(static_cast<float>(seed));
  const __m256 a = _mm256_set1_ps(0.5F);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (__m256& sum : sums) sum = _mm256_fmadd_ps(sum, a, a);
  }
  keep_result(sums);
  return rounds * kChains * 8 * 2;
}

}  // namespace

const LimitKernels kAvx2Limits = {read, int8, f32};

}  // namespace glmhost::kernels
