#include "inference/generation/piece_policy.h"

#include <doctest/doctest.h>

#include <initializer_list>

namespace glmhost::generation {

TEST_CASE("nothing measured yet: a careful first piece") {
  const PiecePolicy policy;
  CHECK(policy.compute(0, 30, false) == 32);
  PiecePolicy small;
  small.most = 7;
  CHECK(small.compute(0, 30, true) == 7);
}

TEST_CASE("a small model takes whole pieces while nobody waits") {
  const PiecePolicy policy;
  CHECK(policy.compute(0.0005, 30, false) == 256);
  CHECK(policy.compute(0.001, 30, false) == 256);
}

TEST_CASE("running answers wait no longer than a step may take") {
  const PiecePolicy policy;
  for (const double cost : {0.0002, 0.0005, 0.001, 0.004}) {
    const std::int64_t piece = policy.compute(cost, 30, true);
    CHECK(static_cast<double>(piece) * cost <= 0.05);
    CHECK(static_cast<double>(piece + 32) * cost > 0.05 * 0.5);
  }
  CHECK(policy.compute(0.0005, 30, true) == 96);
}

TEST_CASE("a part of a layer of a large model ends in time") {
  const PiecePolicy policy;
  // 9B parameters on two cores: 17 ms a token, 40 layers.
  const std::int64_t piece = policy.compute(0.017, 40, false);
  CHECK(static_cast<double>(piece) * 0.017 / 40 * 0.6 <= 0.02);
  CHECK(piece == 32);
}

TEST_CASE("however dear a token is, prompts go on") {
  const PiecePolicy policy;
  CHECK(policy.compute(10, 40, true) == policy.least);
  CHECK(policy.compute(1e300, 1, true) == policy.least);
  CHECK(policy.compute(1e-300, 1024, false) == policy.most);
  PiecePolicy one;
  one.most = 1;
  CHECK(one.compute(10, 40, true) == 1);
}

TEST_CASE("the cost follows long passes and is only lowered by short ones") {
  TokenCost cost;
  cost.record(8, 0.1);
  CHECK(cost.seconds_per_token() == 0);
  cost.record(100, 0.1);
  CHECK(cost.seconds_per_token() == doctest::Approx(0.001));
  cost.record(100, 0.3);
  CHECK(cost.seconds_per_token() == doctest::Approx(0.002));
  cost.record(4, 1.0);
  CHECK(cost.seconds_per_token() == doctest::Approx(0.002));
  cost.record(4, 0.004);
  CHECK(cost.seconds_per_token() == doctest::Approx(0.001));
}

}  // namespace glmhost::generation
