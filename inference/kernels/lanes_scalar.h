// Sixteen float32 lanes without SIMD: what lanes_avx2.h and lanes_avx512.h do with registers. Every operation is
// IEEE's, rounded once, so the three give the same bits. Internal; in an anonymous namespace because the files that
// include it are compiled for different instruction sets and must not share code.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "inference/kernels/fused_multiply_add.h"
#include "inference/model_files/tensor_type.h"

namespace glmhost::kernels {
namespace {

struct ScalarLanes {
  float v[16];

  static ScalarLanes broadcast(float x) {
    return each([&](int) { return x; });
  }
  static ScalarLanes load(const float* from) {
    return each([&](int i) { return from[i]; });
  }
  static ScalarLanes load_f16(const std::uint16_t* from) {
    return each([&](int i) { return model_files::f16_to_f32(from[i]); });
  }
  // The first n lanes; the others are zero.
  static ScalarLanes load_first(const float* from, std::int64_t n) {
    return each([&](int i) { return i < n ? from[i] : 0.0F; });
  }
  static ScalarLanes load_first_f16(const std::uint16_t* from, std::int64_t n) {
    return each([&](int i) { return i < n ? model_files::f16_to_f32(from[i]) : 0.0F; });
  }
  void store(float* to) const { store_first(to, 16); }
  void store_first(float* to, std::int64_t n) const {
    for (int i = 0; i < n; ++i) to[i] = v[i];
  }
  void store_first_f16(std::uint16_t* to, std::int64_t n) const {
    for (int i = 0; i < n; ++i) to[i] = model_files::f32_to_f16(v[i]);
  }

  friend ScalarLanes operator+(const ScalarLanes& a, const ScalarLanes& b) {
    return each([&](int i) { return a.v[i] + b.v[i]; });
  }
  friend ScalarLanes operator-(const ScalarLanes& a, const ScalarLanes& b) {
    return each([&](int i) { return a.v[i] - b.v[i]; });
  }
  friend ScalarLanes operator*(const ScalarLanes& a, const ScalarLanes& b) {
    return each([&](int i) { return a.v[i] * b.v[i]; });
  }
  friend ScalarLanes operator/(const ScalarLanes& a, const ScalarLanes& b) {
    return each([&](int i) { return a.v[i] / b.v[i]; });
  }
  // a * b + c rounded once
  friend ScalarLanes fma(const ScalarLanes& a, const ScalarLanes& b, const ScalarLanes& c) {
    return each([&](int i) { return fused_multiply_add(a.v[i], b.v[i], c.v[i]); });
  }
  // b where a is not greater (or not less): where one is NaN, b.
  friend ScalarLanes max(const ScalarLanes& a, const ScalarLanes& b) {
    return each([&](int i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; });
  }
  friend ScalarLanes min(const ScalarLanes& a, const ScalarLanes& b) {
    return each([&](int i) { return a.v[i] < b.v[i] ? a.v[i] : b.v[i]; });
  }
  // Lanes first..last-1 of x, `other` elsewhere.
  friend ScalarLanes keep(const ScalarLanes& x, std::int64_t first, std::int64_t last, float other) {
    return each([&](int i) { return i >= first && i < last ? x.v[i] : other; });
  }
  // x * 2^n, where n is the integer in the low bits of `shifted` = n + 1.5 * 2^23; |n| < 254
  friend ScalarLanes times_power_of_two(const ScalarLanes& x, const ScalarLanes& shifted) {
    return each([&](int i) {
      const auto n = static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(shifted.v[i]) - 0x4B400000U);
      const std::int32_t half = n >> 1;
      return x.v[i] * power_of_two(half) *
             power_of_two(static_cast<std::int32_t>(static_cast<std::uint32_t>(n) - static_cast<std::uint32_t>(half)));
    });
  }
  // Lane i with lane i + 8, then + 4, + 2, + 1.
  friend float sum(const ScalarLanes& x) {
    ScalarLanes s = x;
    for (int width = 8; width > 0; width /= 2) {
      for (int i = 0; i < width; ++i) s.v[i] += s.v[i + width];
    }
    return s.v[0];
  }
  friend float greatest(const ScalarLanes& x) {
    ScalarLanes s = x;
    for (int width = 8; width > 0; width /= 2) {
      for (int i = 0; i < width; ++i) s.v[i] = s.v[i] > s.v[i + width] ? s.v[i] : s.v[i + width];
    }
    return s.v[0];
  }

 private:
  template <class F>
  static ScalarLanes each(const F& f) {
    ScalarLanes result;
    for (int i = 0; i < 16; ++i) result.v[i] = f(i);
    return result;
  }
  static float power_of_two(std::int32_t n) {
    return std::bit_cast<float>((static_cast<std::uint32_t>(n) + 127U) << 23);
  }
};

}  // namespace
}  // namespace glmhost::kernels
