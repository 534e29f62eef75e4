#include "inference/generation/benchmark.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "inference/architectures/sequence.h"
#include "inference/error.h"
#include "inference/generation/finite.h"
#include "inference/generation/process_memory.h"
#include "inference/generation/random.h"

namespace glmhost::generation {

namespace {

using architectures::BatchRow;
using architectures::Model;
using architectures::Sequence;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Benchmark {
 public:
  Benchmark(const Model& model, kernels::ThreadPool& pool, const BenchmarkOptions& options)
      : model_(model),
        pool_(pool),
        options_(options),
        workspace_(model.make_workspace(options.rows())),
        logits_(static_cast<std::size_t>(options.sequences * model.hyperparameters().vocabulary)) {
    const int measures = (options.prompt_tokens > 0 ? 1 : 0) + (options.generated_tokens > 0 ? 1 : 0) +
                         (options.shared_prefix > 0 ? 1 : 0);
    runs_ = measures * (options.repetitions + 1);
  }

  BenchmarkResult run() {
    BenchmarkResult result;
    if (options_.prompt_tokens > 0) result.prompt_tps = repeat([this] { return prompt_once(); });
    sequences_.clear();
    if (options_.generated_tokens > 0) result.decode_tps = repeat([this] { return decode_once(); });
    sequences_.clear();
    if (options_.shared_prefix > 0) result.rows_per_s = repeat([this] { return rows_once(); });
    result.peak_memory_bytes = peak_memory_bytes();
    return result;
  }

 private:
  // The first run warms caches and threads up and does not count.
  template <class Run>
  Rate repeat(const Run& run) {
    std::vector<double> samples;
    for (int i = 0; i <= options_.repetitions; ++i) {
      const double sample = run();
      // Speed is of no interest where the numbers are none: of what was computed last, and outside of the time.
      require_finite(std::span(logits_).first(static_cast<std::size_t>(last_logits_)));
      if (i > 0) samples.push_back(sample);
      ++finished_;
      if (options_.progress) options_.progress(static_cast<double>(finished_) / runs_);
    }
    return summarize(samples);
  }

  void check_cancel() const {
    if (options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed)) {
      throw Error(ErrorKind::cancelled, "The benchmark was cancelled.");
    }
  }

  std::int32_t next_token() {
    const auto vocabulary = static_cast<std::uint64_t>(model_.hyperparameters().vocabulary);
    return static_cast<std::int32_t>(random_bits(options_.seed, counter_++) % vocabulary);
  }

  void feed(Sequence& sequence, std::int64_t count, bool last_wants_logits) {
    std::vector<std::int32_t> tokens;
    const std::int64_t prompt = sequence.length() + count;
    for (std::int64_t done = 0; done < count; done += static_cast<std::int64_t>(tokens.size())) {
      check_cancel();
      tokens.resize(static_cast<std::size_t>(std::min(options_.prompt_piece, count - done)));
      for (std::int32_t& token : tokens) token = next_token();
      const bool last = done + static_cast<std::int64_t>(tokens.size()) == count;
      sequence.feed(tokens, last && last_wants_logits ? Sequence::Logits::last : Sequence::Logits::none, logits_.data(),
                    *workspace_, pool_, nullptr, prompt);
    }
  }

  void decode(std::vector<Sequence>& sequences, std::int64_t steps) {
    std::vector<BatchRow> rows;
    for (std::int64_t step = 0; step < steps; ++step) {
      check_cancel();
      rows.clear();
      for (Sequence& sequence : sequences) rows.push_back(sequence.row(next_token(), sequence.length(), true));
      model_.forward(rows, logits_.data(), *workspace_, pool_);
      for (Sequence& sequence : sequences) sequence.advance(1);
      last_logits_ = static_cast<std::int64_t>(rows.size()) * model_.hyperparameters().vocabulary;
    }
  }

  // Sequences are used again from run to run, as the scheduler uses its pages again: the cost of memory that is touched
  // for the first time belongs to the run that does not count.
  std::vector<Sequence>& sequences_at_depth(std::int64_t count, std::int64_t more) {
    while (static_cast<std::int64_t>(sequences_.size()) < count) sequences_.emplace_back(model_, options_.depth + more);
    for (Sequence& sequence : sequences_) {
      sequence.truncate(0);
      feed(sequence, options_.depth, false);
    }
    return sequences_;
  }

  double prompt_once() {
    Sequence& sequence = sequences_at_depth(1, options_.prompt_tokens).front();
    const auto start = Clock::now();
    feed(sequence, options_.prompt_tokens, true);
    last_logits_ = model_.hyperparameters().vocabulary;
    return static_cast<double>(options_.prompt_tokens) / seconds_since(start);
  }

  double decode_once() {
    std::vector<Sequence>& sequences = sequences_at_depth(options_.sequences, options_.generated_tokens);
    const auto start = Clock::now();
    decode(sequences, options_.generated_tokens);
    return static_cast<double>(options_.generated_tokens * options_.sequences) / seconds_since(start);
  }

  double rows_once() {
    const std::int64_t length = options_.shared_prefix + options_.prompt_tokens + options_.generated_tokens;
    const auto start = Clock::now();
    Sequence prefix(model_, options_.shared_prefix);
    feed(prefix, options_.shared_prefix, false);
    std::vector<Sequence> sequences;
    for (std::int64_t i = 0; i < options_.sequences; ++i) {
      sequences.emplace_back(prefix, length);
      feed(sequences.back(), options_.prompt_tokens, true);
      if (options_.prompt_tokens > 0) last_logits_ = model_.hyperparameters().vocabulary;
    }
    decode(sequences, options_.generated_tokens);
    return static_cast<double>(options_.sequences) / seconds_since(start);
  }

  const Model& model_;
  kernels::ThreadPool& pool_;
  const BenchmarkOptions& options_;
  std::unique_ptr<Model::Workspace> workspace_;
  std::vector<float> logits_;
  std::vector<Sequence> sequences_;
  std::int64_t last_logits_ = 0;  // values that the last forward pass left in logits_
  std::uint64_t counter_ = 0;
  int runs_ = 0;
  int finished_ = 0;
};

}  // namespace

void BenchmarkOptions::validate(const architectures::Hyperparameters& model) const {
  const auto check = [](const char* field, std::int64_t value, std::int64_t least, std::int64_t most) {
    if (value >= least && value <= most) return;
    throw Error(ErrorKind::bad_argument, std::string("The value of ") + field + " is " + std::to_string(value) +
                                             ", but it must be from " + std::to_string(least) + " to " +
                                             std::to_string(most) + ".");
  };
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  check("prompt_tokens", prompt_tokens, 0, kMost);
  check("generated_tokens", generated_tokens, 0, kMost);
  check("depth", depth, 0, kMost);
  check("sequences", sequences, 1, 4096);
  check("shared_prefix", shared_prefix, 0, kMost);
  check("prompt_piece", prompt_piece, 1, 65536);
  check("repetitions", repetitions, 1, 1000);
  const std::int64_t longest = std::max(depth + std::max(prompt_tokens, generated_tokens),
                                        shared_prefix > 0 ? shared_prefix + prompt_tokens + generated_tokens : 0);
  if (longest > model.context_length) {
    throw Error(ErrorKind::context_exceeded,
                "The benchmark asks for " + std::to_string(longest) + " tokens in one sequence, " +
                    std::to_string(longest - model.context_length) + " more than the model's context of " +
                    std::to_string(model.context_length) + ".");
  }
}

std::int64_t BenchmarkOptions::cache_tokens() const {
  const auto paged = [](std::int64_t tokens) {
    return (tokens + kernels::kPageTokens - 1) / kernels::kPageTokens * kernels::kPageTokens;
  };
  std::int64_t most = prompt_tokens > 0 ? paged(depth + prompt_tokens) : 0;
  if (generated_tokens > 0) most = std::max(most, sequences * paged(depth + generated_tokens));
  // The part of the prefix that fills no page is copied to each row.
  if (shared_prefix > 0) {
    most = std::max(most, paged(shared_prefix) + sequences * paged(shared_prefix % kernels::kPageTokens +
                                                                   prompt_tokens + generated_tokens));
  }
  return most;
}

std::int64_t BenchmarkOptions::rows() const {
  return std::max(prompt_piece, sequences);
}

Rate summarize(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  const std::size_t middle = samples.size() / 2;
  const double median = samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
  return {.median = median, .least = samples.front(), .most = samples.back()};
}

BenchmarkResult benchmark(const Model& model, kernels::ThreadPool& pool, const BenchmarkOptions& options) {
  options.validate(model.hyperparameters());
  return Benchmark(model, pool, options).run();
}

TimedLoad timed_load(const model_files::GgufFile& file, const architectures::LoadOptions& options,
                     kernels::ThreadPool& pool) {
  const auto start = Clock::now();
  std::unique_ptr<Model> model = Model::load(file, options, pool);
  return {.model = std::move(model), .seconds = seconds_since(start)};
}

}  // namespace glmhost::generation
