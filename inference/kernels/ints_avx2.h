// Lines of weights against words of activations with 256-bit registers, two to a line; with the dot product of AVX-VNNI
// or without. Internal; anonymous namespace as in lanes_scalar.h.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "inference/kernels/lanes_avx2.h"

namespace glmhost::kernels {
namespace {

template <bool kVnni>
struct Avx2Ints {
  using Floats = Avx2Lanes;

  // What fits 16 registers.
  static constexpr int kTokens = 3;
  static constexpr int kPanels = 1;
  static constexpr int kFloatTokens = 6;
  static constexpr int kFloatPanels = 1;

  struct Line {
    __m256i low;
    __m256i high;
  };
  using Word = __m256i;

  static Line load(const std::byte* from) {
    return {_mm256_load_si256(reinterpret_cast<const __m256i*>(from)),
            _mm256_load_si256(reinterpret_cast<const __m256i*>(from + 32))};
  }
  static void store(std::byte* to, const Line& line) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(to), line.low);
    _mm256_store_si256(reinterpret_cast<__m256i*>(to + 32), line.high);
  }
  template <int kShift>
  static Line bits(const Line& line, int mask) {
    const __m256i m = _mm256_set1_epi8(static_cast<char>(mask));
    if constexpr (kShift == 0) return {_mm256_and_si256(line.low, m), _mm256_and_si256(line.high, m)};
    return {_mm256_and_si256(_mm256_srli_epi16(line.low, kShift), m),
            _mm256_and_si256(_mm256_srli_epi16(line.high, kShift), m)};
  }
  template <int kShift>
  static Line with_high_bits(const Line& low, const Line& high) {
    return {_mm256_or_si256(low.low, _mm256_slli_epi16(high.low, kShift)),
            _mm256_or_si256(low.high, _mm256_slli_epi16(high.high, kShift))};
  }
  static Line look_up(const std::uint8_t* table, const Line& index) {
    const __m256i values = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
    return {_mm256_shuffle_epi8(values, index.low), _mm256_shuffle_epi8(values, index.high)};
  }
  static Word broadcast(const std::int8_t* from) {
    std::int32_t word;
    std::memcpy(&word, from, 4);
    return _mm256_set1_epi32(word);
  }

  template <int kBits>
  struct Sum {
    __m256i low;
    __m256i high;
    std::int32_t begin;  // without VNNI sums of few bits gather in 16-bit lanes and join this at the end

    static constexpr bool kNarrow = !kVnni && kBits <= 4;

    void start(std::int32_t first) {
      begin = first;
      // Without VNNI 8-bit weights are made signed, so their offset, always 128, is gone.
      const std::int32_t here = kNarrow || (!kVnni && kBits == 8) ? 0 : first;
      low = _mm256_set1_epi32(here);
      high = low;
    }
    void add(const Line& weights, Word x) {
      low = added(low, weights.low, x);
      high = added(high, weights.high, x);
    }
    Floats floats() const { return {_mm256_cvtepi32_ps(finished(low)), _mm256_cvtepi32_ps(finished(high))}; }

   private:
    static __m256i added(__m256i sum, __m256i weights, Word x) {
      if constexpr (kVnni) {
        return _mm256_dpbusd_avx_epi32(sum, weights, x);
      } else if constexpr (kNarrow) {
        return _mm256_add_epi16(sum, _mm256_maddubs_epi16(weights, x));  // 8 lines: at most 8 * 2 * 15 * 127 < 2^15
      } else if constexpr (kBits < 8) {
        return _mm256_add_epi32(sum, wide(_mm256_maddubs_epi16(weights, x)));  // at most 2 * 63 * 127 < 2^15
      } else {
        // u * x would saturate: |w| * (x with the sign of w) is at most 2 * 128 * 127 < 2^15.
        const __m256i w = _mm256_xor_si256(weights, _mm256_set1_epi8(-128));
        return _mm256_add_epi32(sum, wide(_mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w))));
      }
    }
    __m256i finished(__m256i sum) const {
      return kNarrow ? _mm256_add_epi32(wide(sum), _mm256_set1_epi32(begin)) : sum;
    }
    static __m256i wide(__m256i pairs) { return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)); }
  };

  static Floats from_halves(const std::byte* from) {
    return Floats::load_f16(reinterpret_cast<const std::uint16_t*>(from));
  }
  static Floats from_signed_bytes(const std::byte* from) {
    return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(eight_bytes(from))),
            _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(eight_bytes(from + 8)))};
  }
  template <int kShift>
  static Floats from_bits(const std::byte* from, int mask) {
    return {bits_of<kShift>(from, mask), bits_of<kShift>(from + 8, mask)};
  }

  static std::uint32_t greatest_magnitude(const float* x) {
    const __m256i magnitude = _mm256_set1_epi32(0x7FFFFFFF);
    __m256i most = _mm256_setzero_si256();
    for (int i = 0; i < 32; i += 8) {
      const __m256i eight = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i));
      most = _mm256_max_epu32(most, _mm256_and_si256(eight, magnitude));
    }
    const __m128i four = _mm_max_epu32(_mm256_castsi256_si128(most), _mm256_extracti128_si256(most, 1));
    const __m128i two = _mm_max_epu32(four, _mm_shuffle_epi32(four, 0x4E));
    return static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_max_epu32(two, _mm_shuffle_epi32(two, 0xB1))));
  }
  static void quantize(const float* x, float factor, std::int8_t* to, std::int32_t (&sums)[2]) {
    const __m256 f = _mm256_set1_ps(factor);
    const auto eight = [&](int at) { return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + at), f)); };
    // Packing works within halves of a register: columns 0-3, 8-11, ... and 4-7, 12-15, ... until they are put in
    // order.
    const __m256i packed =
        _mm256_packs_epi16(_mm256_packs_epi32(eight(0), eight(8)), _mm256_packs_epi32(eight(16), eight(24)));
    const __m256i quants = _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), quants);
    sum_halves(quants, sums);
  }

 private:
  static void sum_halves(__m256i bytes, std::int32_t (&sums)[2]) {
    const __m256i eights = _mm256_sad_epu8(_mm256_xor_si256(bytes, _mm256_set1_epi8(-128)), _mm256_setzero_si256());
    const __m256i both = _mm256_add_epi64(eights, _mm256_bsrli_epi128(eights, 8));
    sums[0] = _mm256_cvtsi256_si32(both) - 16 * 128;
    sums[1] = _mm_cvtsi128_si32(_mm256_extracti128_si256(both, 1)) - 16 * 128;
  }
  static __m128i eight_bytes(const std::byte* from) { return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)); }
  template <int kShift>
  static __m256 bits_of(const std::byte* from, int mask) {
    const __m256i wide = _mm256_cvtepu8_epi32(eight_bytes(from));
    return _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srli_epi32(wide, kShift), _mm256_set1_epi32(mask)));
  }
};

}  // namespace
}  // namespace glmhost::kernels
