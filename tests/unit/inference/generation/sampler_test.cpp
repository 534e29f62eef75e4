// The sampler against distributions in closed form, and its edges.
#include "inference/generation/sampler.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>

#include "tests/unit/inference/generation/refused.h"

namespace glmhost::generation {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::int32_t pick(const std::vector<float>& logits, const SamplingOptions& options, std::int64_t position = 0,
                  const std::vector<std::int32_t>& history = {}) {
  return sample(logits, static_cast<std::int32_t>(logits.size()), options, history, position).token;
}

// Pearson's statistic of `draws` draws against probabilities; tokens with probability 0 must never come.
double chi_square(const std::vector<float>& logits, const SamplingOptions& options,
                  const std::vector<double>& probabilities, int draws) {
  std::vector<int> counts(probabilities.size());
  for (int i = 0; i < draws; ++i) ++counts[static_cast<std::size_t>(pick(logits, options, i))];
  double statistic = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    CAPTURE(i);
    const double expected = probabilities[i] * draws;
    if (expected == 0) {
      CHECK(counts[i] == 0);
    } else {
      statistic += (counts[i] - expected) * (counts[i] - expected) / expected;
    }
  }
  return statistic;
}

std::vector<float> logs(const std::vector<double>& probabilities) {
  std::vector<float> logits;
  for (const double p : probabilities) logits.push_back(static_cast<float>(std::log(p)) + 3.0f);
  return logits;
}

SamplingOptions at(float temperature, std::uint64_t seed = 1) {
  SamplingOptions options;
  options.temperature = temperature;
  options.seed = seed;
  return options;
}

}  // namespace

TEST_CASE("greedy takes the highest, of equals the lowest id") {
  CHECK(pick({1, 3, 2}, {}) == 1);
  CHECK(pick({5, 5, 5}, {}) == 0);
  CHECK(pick({-2, -1, -1}, {}) == 1);
  std::vector<float> many(5000, -1.0f);
  many[4999] = 0;
  CHECK(pick(many, {}) == 4999);
  many[1024] = 0;
  CHECK(pick(many, {}) == 1024);
  many[1023] = 0;
  CHECK(pick(many, {}) == 1023);
}

TEST_CASE("numbers that are none are never chosen") {
  CHECK(pick({kNan, 1, kNan}, {}) == 1);
  CHECK(pick({kInfinity, 1, 2}, {}) == 2);
  CHECK(pick({-kInfinity, -1e30f}, {}) == 1);
  for (int i = 0; i < 200; ++i) {
    CHECK(pick({kNan, 1, kInfinity, -kInfinity, 1}, at(2), i) % 3 == 1);
  }
  for (const float temperature : {0.0f, 1.0f}) {
    check_refused([&] { pick({kNan, kNan}, at(temperature)); }, ErrorKind::bad_file, {"no usable numbers"});
    check_refused([&] { pick({kInfinity, -kInfinity}, at(temperature)); }, ErrorKind::bad_file, {"no usable"});
  }
}

TEST_CASE("ids past the allowed vocabulary are never chosen") {
  const std::vector<float> logits = {1, 2, 9, 9};
  CHECK(sample(logits, 2, {}, {}, 0).token == 1);
  SamplingOptions options = at(10);
  options.logprobs = 20;
  for (int i = 0; i < 100; ++i) {
    const Choice choice = sample(logits, 2, options, {}, i);
    CHECK(choice.token < 2);
    CHECK(choice.logprobs.size() == 2);
  }
}

// Bounds: the 99.9 % quantile of chi-square with (cells - 1) degrees of freedom; seeds are fixed.
TEST_CASE("temperature 1 draws from the softmax") {
  const std::vector<double> p = {0.5, 0.25, 0.125, 0.0625, 0.0625};
  CHECK(chi_square(logs(p), at(1), p, 20000) < 18.5);
  CHECK(chi_square(logs(p), at(1, 77), p, 20000) < 18.5);
}

TEST_CASE("temperature sharpens and flattens") {
  const std::vector<double> p = {0.6, 0.3, 0.1};
  // At 0.5 probabilities are squared, at 2 their roots are taken.
  CHECK(chi_square(logs(p), at(0.5f), {0.36 / 0.46, 0.09 / 0.46, 0.01 / 0.46}, 20000) < 13.8);
  const double sum = std::sqrt(0.6) + std::sqrt(0.3) + std::sqrt(0.1);
  CHECK(chi_square(logs(p), at(2), {std::sqrt(0.6) / sum, std::sqrt(0.3) / sum, std::sqrt(0.1) / sum}, 20000) < 13.8);
  // A tiny temperature is greedy and does not overflow.
  for (int i = 0; i < 100; ++i) CHECK(pick({1e30f, 2e30f, -3e38f}, at(1e-30f), i) == 1);
}

TEST_CASE("top-k keeps the k likeliest, of equals the lower ids") {
  const std::vector<double> p = {0.1, 0.4, 0.2, 0.3};
  SamplingOptions options = at(1);
  options.top_k = 2;
  CHECK(chi_square(logs(p), options, {0, 4.0 / 7, 0, 3.0 / 7}, 20000) < 10.9);
  options.top_k = 1;
  CHECK(chi_square(logs(p), options, {0, 1, 0, 0}, 100) == 0);
  options.top_k = 2;
  CHECK(chi_square({1, 1, 1, 1}, options, {0.5, 0.5, 0, 0}, 20000) < 10.9);
  options.top_k = 100;
  CHECK(chi_square(logs(p), options, p, 20000) < 16.3);
}

TEST_CASE("top-p keeps the shortest run of likeliest tokens that holds the share") {
  const std::vector<double> p = {0.1, 0.4, 0.2, 0.3};
  SamplingOptions options = at(1);
  options.top_p = 0.65f;
  CHECK(chi_square(logs(p), options, {0, 4.0 / 7, 0, 3.0 / 7}, 20000) < 10.9);
  options.top_p = 0.75f;
  CHECK(chi_square(logs(p), options, {0, 4.0 / 9, 2.0 / 9, 3.0 / 9}, 20000) < 13.8);
  options.top_p = 0.01f;
  CHECK(chi_square(logs(p), options, {0, 1, 0, 0}, 100) == 0);
  // Long runs are sorted step by step: all of 1000 equal tokens but the last tenth.
  options.top_p = 0.9f;
  const std::vector<float> flat(1000, 0.5f);
  std::int32_t highest = 0;
  for (int i = 0; i < 20000; ++i) highest = std::max(highest, pick(flat, options, i));
  CHECK(highest == 899);
}

TEST_CASE("min-p keeps what is at least that share of the likeliest") {
  const std::vector<double> p = {0.1, 0.4, 0.2, 0.3};
  SamplingOptions options = at(1);
  options.min_p = 0.6f;
  CHECK(chi_square(logs(p), options, {0, 4.0 / 7, 0, 3.0 / 7}, 20000) < 10.9);
  options.min_p = 0.99f;
  CHECK(chi_square(logs(p), options, {0, 1, 0, 0}, 100) == 0);
}

TEST_CASE("cuts come in order: top-k, then top-p of what is left, then min-p") {
  const std::vector<double> p = {0.4, 0.3, 0.2, 0.1};
  SamplingOptions options = at(1);
  options.top_k = 2;     // 4/7 and 3/7
  options.top_p = 0.5f;  // 4/7 alone holds half; of the whole distribution it would not
  CHECK(chi_square(logs(p), options, {1, 0, 0, 0}, 100) == 0);
  options.top_k = 0;
  options.top_p = 0.95f;
  options.min_p = 0.4f;  // 0.2 of 0.4 stays, 0.1 goes
  CHECK(chi_square(logs(p), options, {4.0 / 9, 3.0 / 9, 2.0 / 9, 0}, 20000) < 13.8);
}

TEST_CASE("the repetition penalty lowers what was said, whatever its sign") {
  SamplingOptions options;
  options.repetition_penalty = 2;
  CHECK(pick({3, 2, -1}, options) == 0);
  CHECK(pick({3, 2, -1}, options, 0, {0}) == 1);        // 3 / 2 < 2
  CHECK(pick({-1, -1.5f, -4}, options, 0, {0}) == 1);   // -1 * 2 < -1.5
  CHECK(pick({3.5f, 2, -1}, options, 0, {0, 0}) == 1);  // said twice counts once: 1.75
  CHECK(pick({4.5f, 2, -1}, options, 0, {0, 0}) == 0);  // 2.25
  options.repetition_window = 2;
  CHECK(pick({3, 2, -1}, options, 0, {0, 1, 1}) == 0);  // 0 lies before the window
  CHECK(pick({3, 2, -1}, options, 0, {1, 0, 2}) == 1);
  options.repetition_window = 0;
  CHECK(pick({3, 2, -1}, options, 0, {0}) == 0);
  options.repetition_window = 64;
  CHECK(pick({3, 2, -1}, options, 0, {-5, 900, 0}) == 1);  // ids outside are passed over
  options.repetition_penalty = 0.5f;                       // below 1 it invites
  CHECK(pick({3, 2, -1}, options, 0, {1}) == 1);
}

TEST_CASE("a draw depends on seed and position alone") {
  const std::vector<float> logits(50, 0.0f);
  std::vector<std::int32_t> forward;
  std::vector<std::int32_t> backward(64);
  for (int i = 0; i < 64; ++i) forward.push_back(pick(logits, at(1, 5), i));
  for (int i = 63; i >= 0; --i) backward[static_cast<std::size_t>(i)] = pick(logits, at(1, 5), i);
  CHECK(forward == backward);
  std::vector<std::int32_t> other;
  for (int i = 0; i < 64; ++i) other.push_back(pick(logits, at(1, 6), i));
  CHECK(forward != other);
  // Neighbouring seeds and positions are not related: every pair of draws is as good as independent.
  std::map<std::pair<std::int32_t, std::int32_t>, int> pairs;
  const std::vector<float> four(4, 0.0f);
  for (std::uint64_t seed = 0; seed < 4000; ++seed) ++pairs[{pick(four, at(1, seed), 0), pick(four, at(1, seed), 1)}];
  double statistic = 0;
  for (const auto& [pair, count] : pairs) statistic += (count - 250.0) * (count - 250.0) / 250.0;
  CHECK(pairs.size() == 16);
  CHECK(statistic < 37.7);
}

TEST_CASE("log probabilities are the model's own") {
  const std::vector<double> p = {0.1, 0.4, 0.2, 0.3};
  SamplingOptions options;
  options.logprobs = 3;
  Choice choice = sample(logs(p), 4, options, {}, 0);
  REQUIRE(choice.logprobs.size() == 3);
  CHECK(choice.token == 1);
  CHECK(choice.logprobs[0].token == 1);
  CHECK(choice.logprobs[0].logprob == doctest::Approx(std::log(0.4)));
  CHECK(choice.logprobs[1].token == 3);
  CHECK(choice.logprobs[1].logprob == doctest::Approx(std::log(0.3)));
  CHECK(choice.logprobs[2].token == 2);

  // Neither penalty nor temperature nor cuts change them; the chosen token comes first even when it is not likeliest.
  options.temperature = 0.5f;
  options.top_k = 1;
  options.repetition_penalty = 10;
  choice = sample(logs(p), 4, options, std::vector<std::int32_t>{1, 3}, 0);
  CHECK(choice.token == 2);
  CHECK(choice.logprobs[0].token == 2);
  CHECK(choice.logprobs[0].logprob == doctest::Approx(std::log(0.2)));
  CHECK(choice.logprobs[1].token == 1);
  CHECK(choice.logprobs[2].token == 3);

  options = {};
  CHECK(sample(logs(p), 4, options, {}, 0).logprobs.empty());
  options.logprobs = 20;
  CHECK(sample(logs(p), 4, options, {}, 0).logprobs.size() == 4);
  options.logprobs = 1;
  CHECK(sample(logs(p), 4, options, {}, 0).logprobs.size() == 1);
  // Far apart logits do not overflow.
  options.logprobs = 2;
  choice = sample(std::vector<float>{1e30f, -1e30f}, 2, options, {}, 0);
  CHECK(choice.logprobs[0].logprob == 0);
}

TEST_CASE("options outside of their ranges are refused by name") {
  const auto refused = [](const char* field, auto change) {
    SamplingOptions options;
    change(options);
    check_refused([&] { options.validate(); }, ErrorKind::bad_argument, {field});
  };
  for (const float bad : {-0.1f, 10.1f, kNan, kInfinity}) {
    refused("temperature", [&](SamplingOptions& o) { o.temperature = bad; });
  }
  refused("top_k", [](SamplingOptions& o) { o.top_k = -1; });
  for (const float bad : {0.0f, -1.0f, 1.01f, kNan}) {
    refused("top_p", [&](SamplingOptions& o) { o.top_p = bad; });
  }
  for (const float bad : {-0.1f, 1.0f, kNan}) {
    refused("min_p", [&](SamplingOptions& o) { o.min_p = bad; });
  }
  for (const float bad : {0.0f, -1.0f, 10.5f, kNan}) {
    refused("repetition_penalty", [&](SamplingOptions& o) { o.repetition_penalty = bad; });
  }
  refused("repetition_window", [](SamplingOptions& o) { o.repetition_window = -1; });
  refused("logprobs", [](SamplingOptions& o) { o.logprobs = 21; });
  refused("logprobs", [](SamplingOptions& o) { o.logprobs = -1; });
  SamplingOptions extremes;
  extremes.temperature = 10;
  extremes.top_k = std::numeric_limits<std::int32_t>::max();
  extremes.top_p = 1e-6f;
  extremes.min_p = 0.999f;
  extremes.repetition_penalty = 10;
  extremes.logprobs = 20;
  CHECK_NOTHROW(extremes.validate());
  CHECK(pick({1, 2, 3}, extremes) == 2);
}

}  // namespace glmhost::generation
