// Where the time of a forward pass goes, per layer and operation, for `glm profile`.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "inference/architectures/model.h"

namespace glmhost::generation {

struct ProfileOptions {
  std::int64_t prompt_tokens = 512;
  std::int64_t depth = 0;  // tokens that lie in the cache before
  int repetitions = 5;     // after one that does not count; the one of median time is told of
  std::function<void(double fraction)> progress;
  const std::atomic<bool>* cancel = nullptr;

  void validate(const architectures::Hyperparameters& model) const;  // throws Error(context_exceeded)
};

// One forward pass, or the passes of one prompt together.
struct PhaseProfile {
  std::int64_t tokens = 0;
  double seconds = 0;                     // in all, what no operation took included
  architectures::OperationTimes entries;  // one for each operation of each layer, in order of execution
};

struct ModelProfile {
  PhaseProfile prompt;
  PhaseProfile decode;  // of one token behind the prompt
};

// Throws Error: context_exceeded, out_of_memory, cancelled; NotFinite (finite.h).
ModelProfile profile(const architectures::Model& model, kernels::ThreadPool& pool, const ProfileOptions& options);

}  // namespace glmhost::generation
