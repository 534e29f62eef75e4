// From logits to the next token: greedy, temperature, top-k, top-p, min-p, repetition penalty.
//
// Order: repetition penalty (Keskar et al. 2019), temperature, top-k, top-p (Holtzman et al. 2020), min-p (Nguyen et
// al. 2024), draw. The draw for output position i depends on (seed, i) alone (a counter-based generator), so it does
// not depend on batch mates or on how often a step was repeated. Ties go to the lower id.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace glmhost::generation {

struct SamplingOptions {
  float temperature = 0;                // 0: greedy; at most 10
  std::int32_t top_k = 0;               // 0: off
  float top_p = 1;                      // (0, 1]; 1: off
  float min_p = 0;                      // [0, 1); 0: off
  float repetition_penalty = 1;         // (0, 10]; 1: off
  std::int32_t repetition_window = 64;  // tokens looked back at, prompt included
  std::uint64_t seed = 0;
  std::int32_t logprobs = 0;  // 0: none; n: of the chosen token and the n-1 likeliest others (at most 20)

  void validate() const;  // throws Error(bad_argument) naming the field, its value and its range
};

struct TokenLogprob {
  std::int32_t token;
  float logprob;  // natural logarithm of the model's own probability (before penalty, temperature and cuts)
  // The same among the tokens that were allowed; none for one that was not, and where all were.
  std::optional<float> constrained_logprob = std::nullopt;
};

struct Choice {
  std::int32_t token;
  std::vector<TokenLogprob> logprobs;  // chosen token first; empty unless asked for
};

// logits: one row; not changed. allowed_vocabulary: ids at or above it (padding rows) are never chosen.
// history: the sequence so far, prompt included. position: number of tokens generated so far. mask: one bit for each
// token that may be chosen (constraints::bit_is_set); empty: all may. What it leaves keeps its relative probabilities.
Choice sample(std::span<const float> logits, std::int32_t allowed_vocabulary, const SamplingOptions& options,
              std::span<const std::int32_t> history, std::int64_t position, std::span<const std::uint64_t> mask = {});

}  // namespace glmhost::generation
