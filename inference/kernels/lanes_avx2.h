// Sixteen float32 lanes in two 256-bit registers; see lanes_scalar.h for what each operation promises and for the
// anonymous namespace.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace glmhost::kernels {
namespace {

struct Avx2Lanes {
  __m256 low;
  __m256 high;

  static Avx2Lanes broadcast(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
  static Avx2Lanes load(const float* from) { return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)}; }
  static Avx2Lanes load_f16(const std::uint16_t* from) {
    return {_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))),
            _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 8)))};
  }
  static Avx2Lanes load_bf16(const std::uint16_t* from) {
    return {widen_bf16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))),
            widen_bf16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 8)))};
  }
  static Avx2Lanes load_first(const float* from, std::int64_t n) {
    return {_mm256_maskload_ps(from, between(0, n)), _mm256_maskload_ps(from + 8, between(0, n - 8))};
  }
  static Avx2Lanes load_first_f16(const std::uint16_t* from, std::int64_t n) {
    std::uint16_t all[16] = {};
    for (std::int64_t i = 0; i < 16 && i < n; ++i) all[i] = from[i];
    return load_f16(all);
  }
  void store(float* to) const {
    _mm256_storeu_ps(to, low);
    _mm256_storeu_ps(to + 8, high);
  }
  void store_first(float* to, std::int64_t n) const {
    _mm256_maskstore_ps(to, between(0, n), low);
    _mm256_maskstore_ps(to + 8, between(0, n - 8), high);
  }
  void store_first_f16(std::uint16_t* to, std::int64_t n) const {
    std::uint16_t all[16];
    constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    _mm_storeu_si128(reinterpret_cast<__m128i*>(all), _mm256_cvtps_ph(low, kNearest));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(all + 8), _mm256_cvtps_ph(high, kNearest));
    for (std::int64_t i = 0; i < 16 && i < n; ++i) to[i] = all[i];
  }

  friend Avx2Lanes operator+(Avx2Lanes a, Avx2Lanes b) {
    return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
  }
  friend Avx2Lanes operator-(Avx2Lanes a, Avx2Lanes b) {
    return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)};
  }
  friend Avx2Lanes operator*(Avx2Lanes a, Avx2Lanes b) {
    return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
  }
  friend Avx2Lanes operator/(Avx2Lanes a, Avx2Lanes b) {
    return {_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)};
  }
  friend Avx2Lanes fma(Avx2Lanes a, Avx2Lanes b, Avx2Lanes c) {
    return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
  }
  friend Avx2Lanes max(Avx2Lanes a, Avx2Lanes b) {
    return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)};
  }
  friend Avx2Lanes min(Avx2Lanes a, Avx2Lanes b) {
    return {_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)};
  }
  friend Avx2Lanes keep(Avx2Lanes x, std::int64_t begin, std::int64_t end, float other) {
    const __m256 o = _mm256_set1_ps(other);
    return {_mm256_blendv_ps(o, x.low, _mm256_castsi256_ps(between(begin, end))),
            _mm256_blendv_ps(o, x.high, _mm256_castsi256_ps(between(begin - 8, end - 8)))};
  }
  friend Avx2Lanes times_power_of_two(Avx2Lanes x, Avx2Lanes shifted) {
    return {scaled(x.low, shifted.low), scaled(x.high, shifted.high)};
  }
  friend float sum(Avx2Lanes x) {
    const __m256 eight = _mm256_add_ps(x.low, x.high);
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }
  friend float greatest(Avx2Lanes x) {
    const __m256 eight = _mm256_max_ps(x.low, x.high);
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
  }

 private:
  // All bits of the lanes begin..end-1 of eight.
  static __m256i between(std::int64_t begin, std::int64_t end) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i from = _mm256_set1_epi32(clamped(begin) - 1);
    const __m256i to = _mm256_set1_epi32(clamped(end));
    return _mm256_and_si256(_mm256_cmpgt_epi32(lane, from), _mm256_cmpgt_epi32(to, lane));
  }
  static int clamped(std::int64_t n) { return static_cast<int>(n < 0 ? 0 : n > 8 ? 8 : n); }
  static __m256 widen_bf16(__m128i bits) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
  }
  // In two steps: 2^n itself may lie outside of float32.
  static __m256 scaled(__m256 x, __m256 shifted) {
    const __m256i n = _mm256_sub_epi32(_mm256_castps_si256(shifted), _mm256_set1_epi32(0x4B400000));
    const __m256i half = _mm256_srai_epi32(n, 1);
    return _mm256_mul_ps(_mm256_mul_ps(x, power_of_two(half)), power_of_two(_mm256_sub_epi32(n, half)));
  }
  static __m256 power_of_two(__m256i n) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
  }
};

}  // namespace
}  // namespace glmhost::kernels
