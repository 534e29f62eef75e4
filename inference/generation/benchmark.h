// Speed of a model on this machine, for `glm bench`: measured on the forward pass itself, without sampling text.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "inference/architectures/model.h"

namespace glmhost::generation {

struct BenchmarkOptions {
  std::int64_t prompt_tokens = 512;     // 0: prompts are not measured
  std::int64_t generated_tokens = 128;  // 0: decoding is not measured
  std::int64_t depth = 0;               // tokens that lie in the cache before
  std::int64_t sequences = 1;           // decoded together
  std::int64_t shared_prefix = 0;       // tokens that all sequences begin with; measures rows a second too when not 0
  std::int64_t prompt_piece = 256;      // rows of one forward pass
  int repetitions = 5;                  // after one that does not count
  std::uint64_t seed = 7;               // of the token ids
  std::function<void(double fraction)> progress;
  const std::atomic<bool>* cancel = nullptr;

  void validate(const architectures::Hyperparameters& model) const;  // throws Error(bad_argument), context_exceeded

  // What has to be in memory at the same time, besides the weights.
  std::int64_t cache_tokens() const;  // of all sequences together
  std::int64_t rows() const;          // of one forward pass
};

struct Rate {
  double median = 0;
  double least = 0;
  double most = 0;
};
Rate summarize(std::vector<double> samples);

struct BenchmarkResult {
  std::optional<Rate> prompt_tps;  // prompt tokens a second of one sequence, at `depth`
  std::optional<Rate> decode_tps;  // tokens a second of all sequences together, at `depth`
  // With shared_prefix: whole rows a second. A row is a sequence with that prefix (computed once for all),
  // prompt_tokens of its own and generated_tokens of answer; `sequences` of them run together.
  std::optional<Rate> rows_per_s;
  std::uint64_t peak_memory_bytes = 0;  // of the process, weights included
};

// Throws Error: bad_argument, context_exceeded, out_of_memory, cancelled; NotFinite (finite.h).
BenchmarkResult benchmark(const architectures::Model& model, kernels::ThreadPool& pool,
                          const BenchmarkOptions& options);

// Loads the file and says how long that took. Throws what Model::load throws.
struct TimedLoad {
  std::unique_ptr<architectures::Model> model;
  double seconds;
};
TimedLoad timed_load(const model_files::GgufFile& file, const architectures::LoadOptions& options,
                     kernels::ThreadPool& pool);

}  // namespace glmhost::generation
