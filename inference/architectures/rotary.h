// Angles of the rotary embedding: frequencies per pair, with context extension as the file asks for it.
//
// Plain: theta^(-2i/R) (Su et al. 2021). Linear: all divided by a factor (Chen et al. 2023). YaRN: low frequencies
// divided, high ones kept, a ramp between, and cos and sin scaled by 0.1 ln(factor) + 1 (Peng et al. 2023).
// Llama 3: the file's own divisor for each pair (tensor rope_freqs.weight).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inference/architectures/hyperparameters.h"

namespace glmhost::architectures {

struct RotaryScaling {
  double factor = 1;  // by how much positions are stretched; 1: not
  bool yarn = false;
  double original_context = 0;  // YaRN: the context the model was trained on
  double beta_fast = 32;        // YaRN: pairs that turn more often than this in it are kept
  double beta_slow = 1;         // YaRN: pairs that turn less often are divided
  double attention_factor = 1;  // YaRN: a further factor of cos and sin
};

// The rope.scaling.* keys. Throws Error: bad_file, unsupported (names the key).
RotaryScaling read_rotary_scaling(const MetadataReader& metadata, const Hyperparameters& hyperparameters);

class RotaryTable {
 public:
  RotaryTable(std::int64_t rotary_dim, double theta, const RotaryScaling& scaling = {});

  // Divides the frequency of pair i by divisors[i] (rotary_dim / 2 values).
  void divide(std::span<const float> divisors);

  std::int64_t rotary_dim() const { return static_cast<std::int64_t>(frequencies_.size()) * 2; }
  // out: rotary_dim floats, pairs of (cos, sin) of position * frequency, as kernels::rotate takes them.
  void angles(std::int64_t position, float* out) const;

 private:
  std::vector<double> frequencies_;
  double magnitude_ = 1;
};

}  // namespace glmhost::architectures
