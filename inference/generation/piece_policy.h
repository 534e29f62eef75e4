// How many prompt tokens go into the next forward pass. A pure function of what passes have cost so far, so that tests
// can give it any past.
#pragma once

#include <cstdint>

namespace glmhost::generation {

// Two bounds: a running answer waits no longer than `step_seconds` for its next token because of somebody's prompt, and
// a cancelled pass ends within `part_seconds`, the time of one part of a layer (a pass is abandoned between parts).
// Results never depend on the size of pieces.
struct PiecePolicy {
  double step_seconds = 0.05;
  double part_seconds = 0.015;
  std::int64_t most = 256;
  std::int64_t least = 4;
  std::int64_t first = 32;  // before anything was measured

  // seconds_per_token: of a prompt token through all layers, 0 when not known yet. layers: of the model. answering:
  // whether the pass also carries running answers.
  std::int64_t compute(double seconds_per_token, std::int64_t layers, bool answering) const;
};

// A running estimate of seconds_per_token. Short passes mostly pay for reading the weights: they say at most how dear a
// token is, so they can lower the estimate but not raise it.
class TokenCost {
 public:
  void record(std::int64_t tokens, double seconds);
  double seconds_per_token() const { return seconds_; }

 private:
  double seconds_ = 0;
};

}  // namespace glmhost::generation
