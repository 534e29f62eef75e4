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
  selected().add(a, b, out, count);
}

void scale(float* x, float factor, std::int64_t count) {
  for (std::int64_t k = 0; k < count; ++k) x[k] *= factor;
}

void rotate(float* x, std::int64_t heads, std::int64_t head_dim, std::int64_t rotary_dim, RotaryPairing pairing,
            const float* cos_sin) {
  selected().rotate(x, heads, head_dim, rotary_dim, pairing, cos_sin);
}

}  // namespace glmhost::kernels
