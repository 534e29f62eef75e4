#include "inference/generation/sampler.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>
#include <string>
#include <unordered_set>

#include "inference/error.h"
#include "inference/generation/random.h"

namespace glmhost::generation {

namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

template <class T>
void check(const char* field, T value, bool good, const char* range) {
  if (good) return;
  std::ostringstream sentence;
  sentence << "The value of " << field << " is " << value << ", but it must be " << range << ".";
  throw Error(ErrorKind::bad_argument, sentence.str());
}

// A token that may be drawn; weight: its logit, later its probability up to a common factor.
struct Candidate {
  std::int32_t token;
  float weight;
};

// The order of every cut: likelier first, and of equals the lower id.
bool before(const Candidate& a, const Candidate& b) {
  return a.weight > b.weight || (a.weight == b.weight && a.token < b.token);
}

// NaN and minus infinity can never be chosen; plus infinity is an overflow and no number to divide by either.
bool usable(float logit) {
  return logit > kNever && logit < std::numeric_limits<float>::infinity();
}

// The highest of some logits; what is NaN is passed over. Independent lanes, so that the compiler uses vectors.
float highest_of(std::span<const float> logits) {
  constexpr std::size_t kLanes = 16;
  std::array<float, kLanes> lanes;
  lanes.fill(kNever);
  std::size_t i = 0;
  for (; i + kLanes <= logits.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] = logits[i + lane] > lanes[lane] ? logits[i + lane] : lanes[lane];
    }
  }
  for (; i < logits.size(); ++i) lanes[0] = logits[i] > lanes[0] ? logits[i] : lanes[0];
  return *std::max_element(lanes.begin(), lanes.end());
}

// The lowest id of the highest usable logit.
std::int32_t argmax(std::span<const float> logits) {
  constexpr std::size_t kBlock = 1024;
  float highest = kNever;
  std::size_t best = logits.size();  // where the first of the highest ones is to be looked for
  for (std::size_t start = 0; start < logits.size(); start += kBlock) {
    const auto block = logits.subspan(start, std::min(kBlock, logits.size() - start));
    float block_highest = highest_of(block);
    if (block_highest == std::numeric_limits<float>::infinity()) {
      block_highest = kNever;
      for (const float logit : block) block_highest = usable(logit) ? std::max(block_highest, logit) : block_highest;
    }
    if (block_highest > highest) {
      highest = block_highest;
      best = start;
    }
  }
  if (best == logits.size()) {
    throw Error(ErrorKind::bad_file,
                "The model gave no usable numbers for the next token. Its file is probably damaged: check it against "
                "its SHA-256, or get it again.");
  }
  while (logits[best] != highest) ++best;
  return static_cast<std::int32_t>(best);
}

// The logits of the tokens that a mask allows; of all others minus infinity. A mask may be shorter than the logits.
std::vector<float> allowed_of(std::span<const float> logits, std::span<const std::uint64_t> mask) {
  std::vector<float> allowed(logits.size(), kNever);
  for (std::size_t word = 0; word < mask.size(); ++word) {
    for (std::uint64_t rest = mask[word]; rest != 0; rest &= rest - 1) {
      const std::size_t token = word * 64 + static_cast<std::size_t>(std::countr_zero(rest));
      if (token < logits.size()) allowed[token] = logits[token];
    }
  }
  return allowed;
}

void penalize(std::vector<float>& logits, float penalty, std::span<const std::int32_t> recent) {
  std::unordered_set<std::int32_t> seen;
  for (const std::int32_t token : recent) {
    if (token < 0 || static_cast<std::size_t>(token) >= logits.size() || !seen.insert(token).second) continue;
    float& logit = logits[static_cast<std::size_t>(token)];
    logit = logit > 0 ? logit / penalty : logit * penalty;
  }
}

// The n likeliest candidates, in order.
void keep_top(std::vector<Candidate>& candidates, std::size_t n) {
  const auto middle = candidates.begin() + static_cast<std::ptrdiff_t>(std::min(n, candidates.size()));
  std::partial_sort(candidates.begin(), middle, candidates.end(), before);
  candidates.erase(middle, candidates.end());
}

// The shortest run of likeliest candidates that holds at least `share` of all weight. Sorts no more than it needs: the
// run is short as a rule, the vocabulary is not.
void keep_nucleus(std::vector<Candidate>& candidates, float share) {
  const double total = std::accumulate(candidates.begin(), candidates.end(), 0.0,
                                       [](double sum, const Candidate& c) { return sum + c.weight; });
  double held = 0;
  std::size_t sorted = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (i == sorted) {
      sorted = std::min(candidates.size(), std::max<std::size_t>(64, sorted * 4));
      std::partial_sort(candidates.begin() + static_cast<std::ptrdiff_t>(i),
                        candidates.begin() + static_cast<std::ptrdiff_t>(sorted), candidates.end(), before);
    }
    held += candidates[i].weight;
    if (held >= share * total) {
      candidates.resize(i + 1);
      return;
    }
  }
}

std::int32_t draw(const std::vector<Candidate>& candidates, double unit) {
  double total = 0;
  for (const Candidate& candidate : candidates) total += candidate.weight;
  double rest = unit * total;
  for (const Candidate& candidate : candidates) {
    rest -= candidate.weight;
    if (rest < 0) return candidate.token;
  }
  // Rounding can leave a crumb; it belongs to the last candidate that has any weight.
  const auto last =
      std::find_if(candidates.rbegin(), candidates.rend(), [](const Candidate& c) { return c.weight > 0; });
  return last->token;
}

std::int32_t choose(std::span<const float> logits, const SamplingOptions& options, std::int64_t position) {
  const std::int32_t best = argmax(logits);
  if (options.temperature == 0) return best;

  // Weights are relative to the likeliest, so that no temperature overflows. What is e^-40 times less likely lies below
  // the resolution of the draw (2^-53) and is left out at once.
  const float highest = logits[static_cast<std::size_t>(best)];
  const float least = highest - 40 * options.temperature;
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] >= least && logits[i] <= highest) candidates.push_back({static_cast<std::int32_t>(i), logits[i]});
  }
  if (options.top_k > 0) keep_top(candidates, static_cast<std::size_t>(options.top_k));
  for (Candidate& candidate : candidates) {
    candidate.weight = std::exp((candidate.weight - highest) / options.temperature);
  }
  if (options.top_p < 1) keep_nucleus(candidates, options.top_p);
  if (options.min_p > 0) {
    // The likeliest has weight 1 and is never cut.
    std::erase_if(candidates, [&](const Candidate& candidate) { return candidate.weight < options.min_p; });
  }
  return draw(candidates, random_unit(options.seed, static_cast<std::uint64_t>(position)));
}

// The logarithm of the sum of all exponentials: what turns a logit into the logarithm of a probability.
double log_sum_of(std::span<const float> logits) {
  const auto highest = static_cast<double>(logits[static_cast<std::size_t>(argmax(logits))]);
  double sum = 0;
  for (const float logit : logits) sum += usable(logit) ? std::exp(static_cast<double>(logit) - highest) : 0;
  return highest + std::log(sum);
}

std::vector<TokenLogprob> logprobs(std::span<const float> logits, std::int32_t chosen, std::int32_t count) {
  const double log_sum = log_sum_of(logits);
  std::vector<Candidate> candidates;
  candidates.reserve(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (usable(logits[i])) candidates.push_back({static_cast<std::int32_t>(i), logits[i]});
  }
  keep_top(candidates, static_cast<std::size_t>(count));
  std::vector<TokenLogprob> result;
  result.push_back(
      {chosen, static_cast<float>(static_cast<double>(logits[static_cast<std::size_t>(chosen)]) - log_sum)});
  for (const Candidate& candidate : candidates) {
    if (static_cast<std::int32_t>(result.size()) == count) break;
    if (candidate.token == chosen) continue;
    result.push_back({candidate.token, static_cast<float>(static_cast<double>(candidate.weight) - log_sum)});
  }
  return result;
}

}  // namespace

void SamplingOptions::validate() const {
  check("temperature", temperature, temperature >= 0 && temperature <= 10, "from 0 (greedy) to 10");
  check("top_k", top_k, top_k >= 0, "0 (off) or more");
  check("top_p", top_p, top_p > 0 && top_p <= 1, "above 0 and at most 1 (off)");
  check("min_p", min_p, min_p >= 0 && min_p < 1, "from 0 (off) to below 1");
  check("repetition_penalty", repetition_penalty, repetition_penalty > 0 && repetition_penalty <= 10,
        "above 0 and at most 10 (1: off)");
  check("repetition_window", repetition_window, repetition_window >= 0, "0 or more tokens");
  check("logprobs", logprobs, logprobs >= 0 && logprobs <= 20, "from 0 (off) to 20");
}

Choice sample(std::span<const float> logits, std::int32_t allowed_vocabulary, const SamplingOptions& options,
              std::span<const std::int32_t> history, std::int64_t position, std::span<const std::uint64_t> mask) {
  const auto own = logits.first(std::min(logits.size(), static_cast<std::size_t>(allowed_vocabulary)));
  std::vector<float> masked;
  if (!mask.empty()) masked = allowed_of(own, mask);
  const std::span<const float> allowed = mask.empty() ? own : std::span<const float>(masked);

  Choice choice;
  if (options.repetition_penalty != 1 && options.repetition_window > 0) {
    std::vector<float> penalized(allowed.begin(), allowed.end());
    const std::size_t window = std::min(history.size(), static_cast<std::size_t>(options.repetition_window));
    penalize(penalized, options.repetition_penalty, history.last(window));
    choice.token = choose(penalized, options, position);
  } else {
    choice.token = choose(allowed, options, position);
  }
  if (options.logprobs == 0) return choice;
  choice.logprobs = logprobs(own, choice.token, options.logprobs);
  if (mask.empty()) return choice;
  const double log_sum = log_sum_of(masked);
  for (TokenLogprob& one : choice.logprobs) {
    const float logit = masked[static_cast<std::size_t>(one.token)];
    if (logit > kNever) one.constrained_logprob = static_cast<float>(static_cast<double>(logit) - log_sum);
  }
  return choice;
}

}  // namespace glmhost::generation
