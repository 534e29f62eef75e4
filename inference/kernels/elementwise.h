// Norms, rotary embedding, gates: row-wise float32 operations. Pointers are rows of contiguous floats; in and out may
// be the same. Sums run in a fixed order, so a row's result does not depend on other rows, threads or instruction set.
// Formulas: x / sqrt(mean(x^2) + eps) * g (RMSNorm); Su et al. 2021 (rotary); silu(z) = z * sigmoid(z); GELU in its
// tanh form (Hendrycks & Gimpel 2016).
#pragma once

#include <cstdint>

namespace glmhost::kernels {

void rms_norm(const float* x, const float* weight, float eps, float* out, std::int64_t columns);

// out = a + b
void add(const float* a, const float* b, float* out, std::int64_t count);

// out = silu(gate) * up
void silu_mul(const float* gate, const float* up, float* out, std::int64_t count);

// out = gelu_tanh(gate) * up
void gelu_mul(const float* gate, const float* up, float* out, std::int64_t count);

void scale(float* x, float factor, std::int64_t count);

enum class RotaryPairing {
  interleaved,  // (2i, 2i + 1): GGUF llama, chatglm, glm4
  half,         // (i, i + R/2): gemma3, glm4moe
};

// Rotates the first `rotary_dim` values of each of `heads` heads in place. cos_sin: rotary_dim / 2 pairs (cos, sin) of
// position * theta^(-2i / rotary_dim).
void rotate(float* x, std::int64_t heads, std::int64_t head_dim, std::int64_t rotary_dim, RotaryPairing pairing,
            const float* cos_sin);

}  // namespace glmhost::kernels
