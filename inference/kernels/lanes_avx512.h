// Sixteen float32 lanes in one 512-bit register; see lanes_scalar.h for what each operation promises and for the
// anonymous namespace.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace glmhost::kernels {
namespace {

struct Avx512Lanes {
  __m512 v;

  static Avx512Lanes broadcast(float x) { return {_mm512_set1_ps(x)}; }
  static Avx512Lanes load(const float* from) { return {_mm512_loadu_ps(from)}; }
  static Avx512Lanes load_f16(const std::uint16_t* from) {
    return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)))};
  }
  static Avx512Lanes load_bf16(const std::uint16_t* from) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16))};
  }
  static Avx512Lanes load_first(const float* from, std::int64_t n) { return {_mm512_maskz_loadu_ps(first(n), from)}; }
  static Avx512Lanes load_first_f16(const std::uint16_t* from, std::int64_t n) {
    return {_mm512_cvtph_ps(_mm256_maskz_loadu_epi16(first(n), from))};
  }
  void store(float* to) const { _mm512_storeu_ps(to, v); }
  void store_first(float* to, std::int64_t n) const { _mm512_mask_storeu_ps(to, first(n), v); }
  void store_first_f16(std::uint16_t* to, std::int64_t n) const {
    _mm256_mask_storeu_epi16(to, first(n), _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }

  friend Avx512Lanes operator+(Avx512Lanes a, Avx512Lanes b) { return {_mm512_add_ps(a.v, b.v)}; }
  friend Avx512Lanes operator-(Avx512Lanes a, Avx512Lanes b) { return {_mm512_sub_ps(a.v, b.v)}; }
  friend Avx512Lanes operator*(Avx512Lanes a, Avx512Lanes b) { return {_mm512_mul_ps(a.v, b.v)}; }
  friend Avx512Lanes operator/(Avx512Lanes a, Avx512Lanes b) { return {_mm512_div_ps(a.v, b.v)}; }
  friend Avx512Lanes fma(Avx512Lanes a, Avx512Lanes b, Avx512Lanes c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
  friend Avx512Lanes max(Avx512Lanes a, Avx512Lanes b) { return {_mm512_max_ps(a.v, b.v)}; }
  friend Avx512Lanes min(Avx512Lanes a, Avx512Lanes b) { return {_mm512_min_ps(a.v, b.v)}; }
  friend Avx512Lanes keep(Avx512Lanes x, std::int64_t begin, std::int64_t end, float other) {
    const auto mask = static_cast<__mmask16>(first(end) & ~first(begin));
    return {_mm512_mask_mov_ps(_mm512_set1_ps(other), mask, x.v)};
  }
  friend Avx512Lanes times_power_of_two(Avx512Lanes x, Avx512Lanes shifted) {
    return {_mm512_scalef_ps(x.v, _mm512_sub_ps(shifted.v, _mm512_set1_ps(12582912.0F)))};
  }
  friend float sum(Avx512Lanes x) {
    const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(x.v), _mm512_extractf32x8_ps(x.v, 1));
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }
  friend float greatest(Avx512Lanes x) {
    const __m256 eight = _mm256_max_ps(_mm512_castps512_ps256(x.v), _mm512_extractf32x8_ps(x.v, 1));
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
  }

 private:
  static __mmask16 first(std::int64_t n) {
    return static_cast<__mmask16>(n >= 16 ? 0xFFFFU : n <= 0 ? 0U : (1U << n) - 1U);
  }
};

}  // namespace
}  // namespace glmhost::kernels
