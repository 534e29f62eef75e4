// a * b + c rounded once, for code that may run on a CPU without the instruction.
#pragma once

#include <bit>
#include <cstdint>

namespace glmhost::kernels {

// The product of two floats is exact in a double. Their sum with c is rounded to odd (Boldo & Melquiond 2008): when it
// is inexact its last bit is made odd, so that rounding once more to float cannot go the wrong way.
inline float fused_multiply_add(float a, float b, float c) {
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const double addend = c;
  const double sum = product + addend;
  const double from_product = sum - addend;
  const double error = (product - from_product) + (addend - (sum - from_product));  // Knuth's exact error
  auto bits = std::bit_cast<std::uint64_t>(sum);
  // error is NaN when something is not finite: then sum is the answer already.
  if ((error > 0 || error < 0) && (bits & 1) == 0) bits += (error > 0) == (sum > 0) ? 1 : -1;
  return static_cast<float>(std::bit_cast<double>(bits));
}

}  // namespace glmhost::kernels
