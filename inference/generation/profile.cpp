#include "inference/generation/profile.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>

#include "inference/architectures/sequence.h"
#include "inference/error.h"
#include "inference/generation/finite.h"
#include "inference/generation/random.h"

namespace glmhost::generation {

namespace {

using architectures::OperationTime;
using architectures::Sequence;

constexpr std::int64_t kPiece = 256;  // rows of one forward pass, as the scheduler takes them

// What several passes spent on the same operation of the same layer is one entry: a layer has two norms, a prompt may
// have several pieces.
architectures::OperationTimes joined(const architectures::OperationTimes& times) {
  architectures::OperationTimes result;
  std::map<std::pair<std::int64_t, architectures::Operation>, std::size_t> places;
  for (const OperationTime& time : times) {
    const auto [place, added] = places.try_emplace({time.layer, time.operation}, result.size());
    if (added) {
      result.push_back(time);
      continue;
    }
    OperationTime& entry = result[place->second];
    entry.seconds += time.seconds;
    entry.bytes += time.bytes;
    entry.operations += time.operations;
  }
  std::ranges::stable_sort(result, {}, &OperationTime::layer);
  return result;
}

class Profiler {
 public:
  Profiler(const architectures::Model& model, kernels::ThreadPool& pool, const ProfileOptions& options)
      : model_(model),
        pool_(pool),
        options_(options),
        workspace_(model.make_workspace(kPiece)),
        logits_(static_cast<std::size_t>(model.hyperparameters().vocabulary)),
        sequence_(model, options.depth + options.prompt_tokens + 1) {}

  ModelProfile run() {
    feed(options_.depth);
    std::vector<PhaseProfile> prompts, decodes;
    for (int i = 0; i <= options_.repetitions; ++i) {
      sequence_.truncate(options_.depth);
      const PhaseProfile prompt = timed(options_.prompt_tokens);
      const PhaseProfile decode = timed(1);
      require_finite(logits_);
      if (options_.progress) options_.progress((i + 1.0) / (options_.repetitions + 1));
      if (i == 0) continue;  // warms caches and threads up
      prompts.push_back(prompt);
      decodes.push_back(decode);
    }
    return {median(std::move(prompts)), median(std::move(decodes))};
  }

 private:
  static PhaseProfile median(std::vector<PhaseProfile> phases) {
    std::ranges::sort(phases, {}, &PhaseProfile::seconds);
    return std::move(phases[phases.size() / 2]);
  }

  PhaseProfile timed(std::int64_t tokens) {
    architectures::OperationTimes times;
    workspace_->time_operations(&times);
    const auto start = std::chrono::steady_clock::now();
    feed(tokens);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    workspace_->time_operations(nullptr);
    return {tokens, took.count(), joined(times)};
  }

  void feed(std::int64_t count) {
    const std::int64_t prompt = count > 1 ? sequence_.length() + count : 0;
    std::vector<std::int32_t> tokens;
    for (std::int64_t done = 0; done < count; done += std::ssize(tokens)) {
      if (options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed)) {
        throw Error(ErrorKind::cancelled, "The profile was cancelled.");
      }
      tokens.resize(static_cast<std::size_t>(std::min(kPiece, count - done)));
      for (std::int32_t& token : tokens) {
        token = static_cast<std::int32_t>(random_bits(7, counter_++) %
                                          static_cast<std::uint64_t>(model_.hyperparameters().vocabulary));
      }
      const bool last = done + std::ssize(tokens) == count;
      sequence_.feed(tokens, last ? Sequence::Logits::last : Sequence::Logits::none, logits_.data(), *workspace_, pool_,
                     nullptr, prompt);
    }
  }

  const architectures::Model& model_;
  kernels::ThreadPool& pool_;
  const ProfileOptions& options_;
  std::unique_ptr<architectures::Model::Workspace> workspace_;
  std::vector<float> logits_;
  Sequence sequence_;
  std::uint64_t counter_ = 0;
};

}  // namespace

void ProfileOptions::validate(const architectures::Hyperparameters& model) const {
  const std::int64_t needed = depth + prompt_tokens + 1;
  if (needed <= model.context_length) return;
  throw Error(ErrorKind::context_exceeded, "The profile asks for " + std::to_string(needed) + " tokens, " +
                                               std::to_string(needed - model.context_length) +
                                               " more than the model's context of " +
                                               std::to_string(model.context_length) + ".");
}

ModelProfile profile(const architectures::Model& model, kernels::ThreadPool& pool, const ProfileOptions& options) {
  options.validate(model.hyperparameters());
  return Profiler(model, pool, options).run();
}

}  // namespace glmhost::generation
