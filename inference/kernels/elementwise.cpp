#include "inference/kernels/elementwise.h"

#include "inference/kernels/kernel_table.h"

namespace glmhost::kernels {
namespace {

const ElementwiseKernels& selected() {
  static const ElementwiseKernels& kernels = elementwise_kernels(selected_instruction_set());
  return kernels;
}

}  // namespace

void rms_norm(const float* x, const float* weight, float eps, float* out, std::int64_t columns) {
  selected().rms_norm(x, weight, eps, out, columns);
}

void silu_mul(const float* gate, const float* up, float* out, std::int64_t count) {
  selected().silu_mul(gate, up, out, count);
}

void gelu_mul(const float* gate, const float* up, float* out, std::int64_t count) {
  selected().gelu_mul(gate, up, out, count);
}

void add(const float* a, const float* b, float* out, std::int64_t count) {
  for (std::int64_t k = 0; k < count; ++k) out[k] = a[k] + b[k];
}

void scale(float* x, float factor, std::int64_t count) {
  for (std::int64_t k = 0; k < count; ++k) x[k] *= factor;
}

void rotate(float* x, std::int64_t heads, std::int64_t head_dim, std::int64_t rotary_dim, RotaryPairing pairing,
            const float* cos_sin) {
  const std::int64_t pairs = rotary_dim / 2;
  const std::int64_t step = pairing == RotaryPairing::interleaved ? 2 : 1;
  const std::int64_t partner = pairing == RotaryPairing::interleaved ? 1 : pairs;
  for (std::int64_t head = 0; head < heads; ++head) {
    float* h = x + head * head_dim;
    for (std::int64_t i = 0; i < pairs; ++i) {
      const float cosine = cos_sin[2 * i];
      const float sine = cos_sin[2 * i + 1];
      const float a = h[i * step];
      const float b = h[i * step + partner];
      h[i * step] = a * cosine - b * sine;
      h[i * step + partner] = a * sine + b * cosine;
    }
  }
}

}  // namespace glmhost::kernels
