// Row operations over sixteen lanes, for any of the lane types. Internal.
#pragma once

#include "inference/kernels/exponential.h"
#include "inference/kernels/kernel_table.h"

namespace glmhost::kernels {
namespace {

template <class V>
struct Elementwise {
  // Element k is added to partial sum k % 64; then the partial sums are added in a fixed tree.
  static float sum_of_squares(const float* x, std::int64_t columns) {
    V s0 = V::broadcast(0);
    V s1 = s0;
    V s2 = s0;
    V s3 = s0;
    std::int64_t k = 0;
    const auto add = [&](V& s, V value) { s = fma(value, value, s); };
    for (; k + 64 <= columns; k += 64) {
      add(s0, V::load(x + k));
      add(s1, V::load(x + k + 16));
      add(s2, V::load(x + k + 32));
      add(s3, V::load(x + k + 48));
    }
    for (V* s : {&s0, &s1, &s2, &s3}) {
      if (k >= columns) break;
      add(*s, load_up_to(x + k, columns - k));
      k += 16;
    }
    return sum((s0 + s1) + (s2 + s3));
  }

  static void rms_norm(const float* x, const float* weight, float eps, float* out, std::int64_t columns) {
    const float mean = sum_of_squares(x, columns) / static_cast<float>(columns);
    const V factor = V::broadcast(1.0F / root(mean + eps));
    for (std::int64_t k = 0; k < columns; k += 16) {
      const std::int64_t n = columns - k;
      store_up_to((load_up_to(x + k, n) * factor) * load_up_to(weight + k, n), out + k, n);
    }
  }

  static void silu_mul(const float* gate, const float* up, float* out, std::int64_t count) {
    const V one = V::broadcast(1);
    const V zero = V::broadcast(0);
    for (std::int64_t k = 0; k < count; k += 16) {
      const std::int64_t n = count - k;
      const V z = load_up_to(gate + k, n);
      store_up_to(z / (one + exponential(zero - z)) * load_up_to(up + k, n), out + k, n);
    }
  }

  // gelu_tanh(z) = z / 2 * (1 + tanh(u)) = z / (1 + e^(-2 u)), u = sqrt(2 / pi) * (z + 0.044715 z^3)
  static void gelu_mul(const float* gate, const float* up, float* out, std::int64_t count) {
    const V one = V::broadcast(1);
    const V linear = V::broadcast(-1.5957691216F);  // -2 sqrt(2 / pi)
    const V cubic = V::broadcast(-1.5957691216F * 0.044715F);
    for (std::int64_t k = 0; k < count; k += 16) {
      const std::int64_t n = count - k;
      const V z = load_up_to(gate + k, n);
      const V exponent = fma(z * z, cubic, linear) * z;
      store_up_to(z / (one + exponential(exponent)) * load_up_to(up + k, n), out + k, n);
    }
  }

  static void add(const float* a, const float* b, float* out, std::int64_t count) {
    for (std::int64_t k = 0; k < count; k += 16) {
      const std::int64_t n = count - k;
      store_up_to(load_up_to(a + k, n) + load_up_to(b + k, n), out + k, n);
    }
  }

  // No lanes: compilers see these loops for themselves, and nothing here may be fused.
  static void rotate(float* x, std::int64_t heads, std::int64_t head_dim, std::int64_t rotary_dim,
                     RotaryPairing pairing, const float* cos_sin) {
    const std::int64_t pairs = rotary_dim / 2;
    for (std::int64_t head = 0; head < heads; ++head) {
      float* h = x + head * head_dim;
      if (pairing == RotaryPairing::interleaved) {
        rotate_pairs<2>(h, h + 1, cos_sin, pairs);
      } else {
        rotate_pairs<1>(h, h + pairs, cos_sin, pairs);
      }
    }
  }

 private:
  template <int kStep>
  static void rotate_pairs(float* __restrict first, float* __restrict second, const float* __restrict cos_sin,
                           std::int64_t pairs) {
    for (std::int64_t i = 0; i < pairs; ++i) {
      const float cosine = cos_sin[2 * i];
      const float sine = cos_sin[2 * i + 1];
      const float a = first[i * kStep];
      const float b = second[i * kStep];
      first[i * kStep] = a * cosine - b * sine;
      second[i * kStep] = a * sine + b * cosine;
    }
  }

  static V load_up_to(const float* from, std::int64_t n) { return n >= 16 ? V::load(from) : V::load_first(from, n); }
  static void store_up_to(V v, float* to, std::int64_t n) {
    if (n >= 16) {
      v.store(to);
    } else {
      v.store_first(to, n);
    }
  }
  static float root(float x) { return __builtin_sqrtf(x); }
};

template <class V>
constexpr ElementwiseKernels elementwise_table() {
  return {Elementwise<V>::rms_norm, Elementwise<V>::silu_mul, Elementwise<V>::gelu_mul, Elementwise<V>::add,
          Elementwise<V>::rotate};
}

}  // namespace
}  // namespace glmhost::kernels
