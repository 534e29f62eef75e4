// Exact against fast: how far the engine's fast path strays from the same model in float32, for `glm validate`.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "inference/architectures/model.h"

namespace glmhost::generation {

struct ValidationOptions {
  int inputs = 100;
  std::int64_t tokens = 24;  // of each input, random ids
  std::uint64_t seed = 1;
  std::function<void(double fraction)> progress;
  const std::atomic<bool>* cancel = nullptr;

  static constexpr std::int64_t kMostTokens = 4096;
  void validate(const architectures::Hyperparameters& model) const;  // throws Error(bad_argument)
};

// Between the rows (one a token) of two runs. Cosine similarity of a row: a.b / (|a| |b|).
struct Agreement {
  double cosine = 1;              // mean over rows
  double least_cosine = 1;        // of the worst row
  double largest_difference = 0;  // of any value
};

struct ValidationResult {
  std::vector<Agreement> layers;  // of the residual stream after each layer
  Agreement logits;
  double same_choice = 1;  // share of rows with the same likeliest token

  // "layer 7" (counted from 0) or "the logits": the first whose mean cosine lies below the limit, or is no number.
  std::optional<std::string> failure(double limit) const;
};

// Both models from the same file, the first loaded with LoadOptions::exact. Throws Error: bad_argument (options, or
// models of different shape), out_of_memory, cancelled; NotFinite (finite.h) when already the exact path gives no
// numbers, so that nothing can be said of the fast one.
ValidationResult validate(const architectures::Model& exact, const architectures::Model& fast,
                          kernels::ThreadPool& pool, const ValidationOptions& options);

}  // namespace glmhost::generation
