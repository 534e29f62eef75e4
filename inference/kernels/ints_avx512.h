// Lines of weights against words of activations with 512-bit VNNI. Internal; anonymous namespace as in lanes_scalar.h.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "inference/kernels/lanes_avx512.h"

namespace glmhost::kernels {
namespace {

struct Avx512Ints {
  using Floats = Avx512Lanes;

  // What fits 32 registers: integer and float sums of 2 panels x 6 tokens, and float sums alone of 2 x 12.
  static constexpr int kTokens = 6;
  static constexpr int kPanels = 2;
  static constexpr int kFloatTokens = 12;
  static constexpr int kFloatPanels = 2;

  using Line = __m512i;  // 64 unsigned bytes
  using Word = __m512i;  // 4 signed bytes, sixteen times

  static Line load(const std::byte* from) { return _mm512_load_si512(from); }
  static void store(std::byte* to, Line line) { _mm512_store_si512(to, line); }
  // Bits kShift.. of each byte, as many as mask has.
  template <int kShift>
  static Line bits(Line line, int mask) {
    return _mm512_and_si512(kShift == 0 ? line : _mm512_srli_epi16(line, kShift),
                            _mm512_set1_epi8(static_cast<char>(mask)));
  }
  template <int kShift>
  static Line with_high_bits(Line low, Line high) {
    return _mm512_or_si512(low, _mm512_slli_epi16(high, kShift));
  }
  static Line look_up(const std::uint8_t* table, Line index) {
    const __m128i values = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table));
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(values), index);
  }
  static Word broadcast(const std::int8_t* from) {
    std::int32_t word;
    std::memcpy(&word, from, 4);
    return _mm512_set1_epi32(word);
  }

  // The sum over some lines of unsigned weights (kBits wide) times words. It starts at what the weights' offset takes
  // off: -offset * (sum of the activations).
  template <int kBits>
  struct Sum {
    __m512i v;
    void start(std::int32_t first) { v = _mm512_set1_epi32(first); }
    void add(Line weights, Word x) { v = _mm512_dpbusd_epi32(v, weights, x); }
    Floats floats() const { return {_mm512_cvtepi32_ps(v)}; }
  };

  static Floats from_halves(const std::byte* from) {
    return Floats::load_f16(reinterpret_cast<const std::uint16_t*>(from));
  }
  static Floats from_signed_bytes(const std::byte* from) {
    return {_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(sixteen_bytes(from)))};
  }
  // Bits kShift.. of sixteen bytes.
  template <int kShift>
  static Floats from_bits(const std::byte* from, int mask) {
    const __m512i wide = _mm512_cvtepu8_epi32(sixteen_bytes(from));
    return {_mm512_cvtepi32_ps(_mm512_and_si512(_mm512_srli_epi32(wide, kShift), _mm512_set1_epi32(mask)))};
  }

  // The bits of the greatest magnitude of 32 floats: as integers they are in the same order, with infinity and NaN
  // last.
  static std::uint32_t greatest_magnitude(const float* x) {
    const __m512i magnitude = _mm512_set1_epi32(0x7FFFFFFF);
    const __m512i sixteen = _mm512_max_epu32(_mm512_and_si512(_mm512_loadu_si512(x), magnitude),
                                             _mm512_and_si512(_mm512_loadu_si512(x + 16), magnitude));
    const __m256i eight = _mm256_max_epu32(_mm512_castsi512_si256(sixteen), _mm512_extracti64x4_epi64(sixteen, 1));
    const __m128i four = _mm_max_epu32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    const __m128i two = _mm_max_epu32(four, _mm_shuffle_epi32(four, 0x4E));
    return static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_max_epu32(two, _mm_shuffle_epi32(two, 0xB1))));
  }
  // 32 floats times factor, rounded to the nearest integer (ties to even), and the sums of the first and the last 16.
  static void quantize(const float* x, float factor, std::int8_t* to, std::int32_t (&sums)[2]) {
    const __m512 f = _mm512_set1_ps(factor);
    const __m128i low = _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(x), f)));
    const __m128i high = _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(x + 16), f)));
    const __m256i quants = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), quants);
    sum_halves(quants, sums);
  }

 private:
  // Sums of the 16 signed bytes of either half: moved by 128 they are unsigned, as the instruction wants them.
  static void sum_halves(__m256i bytes, std::int32_t (&sums)[2]) {
    const __m256i eights = _mm256_sad_epu8(_mm256_xor_si256(bytes, _mm256_set1_epi8(-128)), _mm256_setzero_si256());
    const __m256i both = _mm256_add_epi64(eights, _mm256_bsrli_epi128(eights, 8));
    sums[0] = _mm256_cvtsi256_si32(both) - 16 * 128;
    sums[1] = _mm_cvtsi128_si32(_mm256_extracti128_si256(both, 1)) - 16 * 128;
  }
  static __m128i sixteen_bytes(const std::byte* from) { return _mm_load_si128(reinterpret_cast<const __m128i*>(from)); }
};

}  // namespace
}  // namespace glmhost::kernels
