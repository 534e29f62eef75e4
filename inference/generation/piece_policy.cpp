#include "inference/generation/piece_policy.h"

#include <algorithm>

namespace glmhost::generation {

std::int64_t PiecePolicy::compute(double seconds_per_token, std::int64_t layers, bool answering) const {
  if (seconds_per_token <= 0) return std::min(first, most);
  // The costliest part of a layer, gate and up of the feed-forward, is somewhat more than half of it.
  constexpr double kCostliestPart = 0.6;
  double tokens = part_seconds * static_cast<double>(layers) / (kCostliestPart * seconds_per_token);
  if (answering) tokens = std::min(tokens, step_seconds / seconds_per_token);
  auto piece = static_cast<std::int64_t>(std::clamp(tokens, 1.0, static_cast<double>(most)));
  if (piece > 32) piece -= piece % 32;  // whole tiles of the matrix kernels
  return std::clamp(piece, std::min(least, most), most);
}

void TokenCost::record(std::int64_t tokens, double seconds) {
  constexpr std::int64_t kTelling = 16;
  if (tokens < 1) return;
  const double sample = seconds / static_cast<double>(tokens);
  if (tokens < kTelling) {
    seconds_ = std::min(seconds_, sample);  // stays unknown while it is unknown
  } else {
    seconds_ = seconds_ == 0 ? sample : 0.5 * seconds_ + 0.5 * sample;
  }
}

}  // namespace glmhost::generation
