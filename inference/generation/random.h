// A counter-based random generator: number n of stream s is a pure function of (s, n), so that a draw can be repeated
// without having made the earlier ones. SplitMix64's finaliser (Steele, Lea, Flood 2014) applied twice.
#pragma once

#include <cstdint>

namespace glmhost::generation {

constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// Uniform over all 64-bit numbers.
constexpr std::uint64_t random_bits(std::uint64_t stream, std::uint64_t counter) {
  return mix_bits(mix_bits(stream) ^ mix_bits(counter ^ 0xD1B54A32D192ED03u));
}

// Uniform in [0, 1), 53 bits.
constexpr double random_unit(std::uint64_t stream, std::uint64_t counter) {
  return static_cast<double>(random_bits(stream, counter) >> 11) * 0x1p-53;
}

}  // namespace glmhost::generation
