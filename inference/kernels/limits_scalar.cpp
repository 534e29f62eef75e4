#include <cmath>
#include <cstring>

#include "inference/kernels/limit_kernels.h"

namespace glmhost::kernels {
namespace {

std::uint64_t read(const std::byte* from, std::size_t bytes) {
  std::uint64_t sums[8] = {};
  for (std::size_t at = 0; at < bytes; at += 64) {
    for (std::size_t i = 0; i < 8; ++i) {
      std::uint64_t word;
      std::memcpy(&word, from + at + i * 8, 8);
      sums[i] += word;
    }
  }
  std::uint64_t all = 0;
  for (const std::uint64_t sum : sums) all += sum;
  return all;
}

std::uint64_t int8(std::uint64_t rounds, int seed) {
  int sums[8] = {seed, seed, seed, seed, seed, seed, seed, seed};
  const auto a = static_cast<std::uint8_t>(seed);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const auto b = static_cast<std::int8_t>(round);
    for (int& sum : sums) sum += a * b;
  }
  keep_result(sums);
  return rounds * 8 * 2;
}

std::uint64_t f32(std::uint64_t rounds, int seed) {
  float sums[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  const auto a = static_cast<float>(seed) * 1e-6F;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (float& sum : sums) sum = sum * a + a;
  }
  keep_result(sums);
  return rounds * 8 * 2;
}

}  // namespace

const LimitKernels kScalarLimits = {read, int8, f32};

}  // namespace glmhost::kernels
