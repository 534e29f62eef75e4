// e^x for sixteen lanes. Internal; see lanes_scalar.h for the anonymous namespace.
#pragma once

namespace glmhost::kernels {
namespace {

// x = n ln 2 + r with |r| <= ln 2 / 2; e^r by its Taylor series to r^7 (the next term is below 6e-9), then times 2^n.
// Relative error below 2e-7; 0 below -104, infinity above 89, NaN stays, and e^0 is exactly 1.
template <class V>
[[gnu::always_inline]] inline V exponential(V x) {
  // The constant comes first: max and min give their second operand when one is NaN.
  x = max(V::broadcast(-105.0F), x);
  x = min(V::broadcast(90.0F), x);
  const V magic = V::broadcast(12582912.0F);  // 1.5 * 2^23: adding it rounds to an integer, found in the low bits
  const V shifted = fma(x, V::broadcast(1.44269504F), magic);
  const V n = shifted - magic;
  V r = fma(n, V::broadcast(-0.693359375F), x);  // ln 2 in two parts (Cody & Waite 1980): n times the first is exact
  r = fma(n, V::broadcast(2.12194440e-4F), r);
  V p = V::broadcast(1.0F / 5040);
  p = fma(p, r, V::broadcast(1.0F / 720));
  p = fma(p, r, V::broadcast(1.0F / 120));
  p = fma(p, r, V::broadcast(1.0F / 24));
  p = fma(p, r, V::broadcast(1.0F / 6));
  p = fma(p, r, V::broadcast(0.5F));
  p = fma(p, r, V::broadcast(1.0F));
  p = fma(p, r, V::broadcast(1.0F));
  return times_power_of_two(p, shifted);
}

}  // namespace
}  // namespace glmhost::kernels
