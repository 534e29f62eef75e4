#include "inference/kernels/elementwise.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "inference/kernels/kernel_table.h"
#include "tests/unit/inference/kernels/random_data.h"

namespace glmhost::kernels {
namespace {

using testing::Random;

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

constexpr std::int64_t kLengths[] = {1, 2, 15, 16, 17, 31, 48, 63, 64, 65, 80, 127, 200, 576, 1000};

double silu(double z) {
  return z / (1 + std::exp(-z));
}
double gelu_tanh(double z) {
  return z / (1 + std::exp(-2 * std::sqrt(2 / std::numbers::pi) * (z + 0.044715 * z * z * z)));
}

}  // namespace

TEST_CASE("RMSNorm equals its formula in double precision, with the same bits on every instruction set") {
  Random random(21);
  for (const std::int64_t n : kLengths) {
    CAPTURE(n);
    const std::vector<float> x = random.normals(n, 3);
    const std::vector<float> weight = random.normals(n);
    double squares = 0;
    for (const float value : x) squares += static_cast<double>(value) * value;
    const double factor = 1 / std::sqrt(squares / static_cast<double>(n) + 1e-5);
    std::vector<float> scalar(x.size());
    elementwise_kernels(InstructionSet::scalar).rms_norm(x.data(), weight.data(), 1e-5F, scalar.data(), n);
    for (std::size_t k = 0; k < x.size(); ++k) {
      CHECK(scalar[k] == doctest::Approx(x[k] * factor * weight[k]).epsilon(4e-7));
    }
    for (const InstructionSet set : supported_instruction_sets()) {
      CAPTURE(name(set));
      std::vector<float> out(x.size() + 1, 5.0F);
      elementwise_kernels(set).rms_norm(x.data(), weight.data(), 1e-5F, out.data(), n);
      CHECK(out.back() == 5.0F);
      out.pop_back();
      CHECK(same_bits(out, scalar));
      std::vector<float> in_place = x;
      elementwise_kernels(set).rms_norm(in_place.data(), weight.data(), 1e-5F, in_place.data(), n);
      CHECK(same_bits(in_place, scalar));
    }
  }
}

TEST_CASE("Gates are exact to a millionth over the whole range, with the same bits on every instruction set") {
  std::vector<float> gate;
  for (double z = -95; z <= 95; z += 0.0137) gate.push_back(static_cast<float>(z));
  for (const float z : {0.0F, -0.0F, 1e-30F, -1e-30F, 1e-7F, 300.0F, 1e30F}) gate.push_back(z);
  const auto n = std::ssize(gate);
  const std::vector<float> up(gate.size(), 1.5F);
  std::vector<float> silu_scalar(gate.size());
  std::vector<float> gelu_scalar(gate.size());
  elementwise_kernels(InstructionSet::scalar).silu_mul(gate.data(), up.data(), silu_scalar.data(), n);
  elementwise_kernels(InstructionSet::scalar).gelu_mul(gate.data(), up.data(), gelu_scalar.data(), n);
  for (std::size_t k = 0; k < gate.size(); ++k) {
    const double z = gate[k];
    const double silu_limit = 3e-7 * std::fabs(1.5 * silu(z)) + 5e-37;
    CHECK(std::fabs(silu_scalar[k] - 1.5 * silu(z)) <= silu_limit);
    // Far in the negative tail the exponent itself, a float, is the limit.
    const double gelu_limit = 1e-6 * std::fabs(1.5 * gelu_tanh(z)) + 1e-12;
    CHECK(std::fabs(gelu_scalar[k] - 1.5 * gelu_tanh(z)) <= gelu_limit);
  }
  for (const InstructionSet set : supported_instruction_sets()) {
    CAPTURE(name(set));
    for (const std::int64_t count : {n, std::int64_t{1}, std::int64_t{13}, std::int64_t{33}}) {
      std::vector<float> out(static_cast<std::size_t>(count) + 1, 5.0F);
      elementwise_kernels(set).silu_mul(gate.data(), up.data(), out.data(), count);
      CHECK(out.back() == 5.0F);
      CHECK(std::memcmp(out.data(), silu_scalar.data(), static_cast<std::size_t>(count) * 4) == 0);
      elementwise_kernels(set).gelu_mul(gate.data(), up.data(), out.data(), count);
      CHECK(out.back() == 5.0F);
      CHECK(std::memcmp(out.data(), gelu_scalar.data(), static_cast<std::size_t>(count) * 4) == 0);
    }
  }
}

TEST_CASE("Gates keep NaN and do not trip over infinity") {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> gate = {std::numeric_limits<float>::quiet_NaN(), infinity, -1e38F};
  const std::vector<float> up = {1, 1, 1};
  for (const InstructionSet set : supported_instruction_sets()) {
    CAPTURE(name(set));
    std::vector<float> out(3);
    elementwise_kernels(set).silu_mul(gate.data(), up.data(), out.data(), 3);
    CHECK(std::isnan(out[0]));
    CHECK(out[1] == infinity);
    CHECK(out[2] == 0);
    elementwise_kernels(set).gelu_mul(gate.data(), up.data(), out.data(), 3);
    CHECK(std::isnan(out[0]));
    CHECK(out[1] == infinity);
    CHECK(out[2] == 0);
  }
}

TEST_CASE("Addition and scaling") {
  const std::vector<float> a = {1, 2, 3};
  const std::vector<float> b = {10, 20, 30};
  std::vector<float> out(3);
  add(a.data(), b.data(), out.data(), 3);
  CHECK(out == std::vector<float>{11, 22, 33});
  scale(out.data(), 0.5F, 2);
  CHECK(out == std::vector<float>{5.5F, 11, 33});
}

TEST_CASE("Rotation turns each pair by its angle and leaves the rest of the head") {
  Random random(22);
  constexpr std::int64_t kHeads = 3, kDim = 20, kRotary = 12;
  std::vector<float> cos_sin;
  std::vector<double> angles;
  for (int i = 0; i < kRotary / 2; ++i) {
    angles.push_back(0.7 * i + 0.3);
    cos_sin.push_back(static_cast<float>(std::cos(angles.back())));
    cos_sin.push_back(static_cast<float>(std::sin(angles.back())));
  }
  for (const RotaryPairing pairing : {RotaryPairing::interleaved, RotaryPairing::half}) {
    const std::vector<float> before = random.normals(kHeads * kDim);
    std::vector<float> x = before;
    rotate(x.data(), kHeads, kDim, kRotary, pairing, cos_sin.data());
    for (std::size_t head = 0; head < kHeads; ++head) {
      for (std::size_t i = 0; i < kRotary / 2; ++i) {
        const std::size_t first = head * kDim + (pairing == RotaryPairing::half ? i : 2 * i);
        const std::size_t second = pairing == RotaryPairing::half ? first + kRotary / 2 : first + 1;
        const double a = before[first];
        const double b = before[second];
        CHECK(x[first] == doctest::Approx(a * std::cos(angles[i]) - b * std::sin(angles[i])).epsilon(1e-6));
        CHECK(x[second] == doctest::Approx(a * std::sin(angles[i]) + b * std::cos(angles[i])).epsilon(1e-6));
      }
      for (std::size_t k = kRotary; k < kDim; ++k) CHECK(x[head * kDim + k] == before[head * kDim + k]);
    }
  }
}

}  // namespace glmhost::kernels
