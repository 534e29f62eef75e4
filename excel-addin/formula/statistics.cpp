#include "excel-addin/formula/statistics.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace glmhost::formula {

double mean_of(std::span<const double> numbers) {
  return sum_of(numbers) / static_cast<double>(numbers.size());
}

double squared_deviations(std::span<const double> numbers) {
  const double mean = mean_of(numbers);
  CompensatedSum squares, rest;
  for (const double x : numbers) {
    squares.add((x - mean) * (x - mean));
    rest.add(x - mean);
  }
  // What the rounding of the mean left over.
  return squares.value() - rest.value() * rest.value() / static_cast<double>(numbers.size());
}

Pairs pairs_of(Arguments& arguments, const Value& first, const Value& second, PairOrder order) {
  Pairs pairs;
  const auto left = cells_of(first), right = cells_of(second);
  if (!first.is_array()) arguments.check(first);
  if (!second.is_array()) arguments.check(second);
  if (left.size() != right.size()) arguments.fail(ErrorCode::not_available);
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    arguments.check(left[i]);
    arguments.check(right[i]);
    if (!left[i].is_number() || !right[i].is_number()) continue;
    pairs.xs.push_back(left[i].number());
    pairs.ys.push_back(right[i].number());
  }
  if (order == PairOrder::ys_first) std::swap(pairs.xs, pairs.ys);
  return pairs;
}

Moments moments_of(const Pairs& pairs) {
  Moments moments;
  if (pairs.size() == 0) return moments;
  moments.mean_x = mean_of(pairs.xs);
  moments.mean_y = mean_of(pairs.ys);
  CompensatedSum xy;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    xy.add((pairs.xs[i] - moments.mean_x) * (pairs.ys[i] - moments.mean_y));
  moments.xx = squared_deviations(pairs.xs);
  moments.yy = squared_deviations(pairs.ys);
  moments.xy = xy.value();
  return moments;
}

double interpolated(std::span<const double> sorted, double position) {
  const double whole = std::floor(position);
  const auto at = static_cast<std::size_t>(std::clamp(whole, 0.0, static_cast<double>(sorted.size() - 1)));
  if (at + 1 >= sorted.size()) return sorted.back();
  return sorted[at] + (position - whole) * (sorted[at + 1] - sorted[at]);
}

}  // namespace glmhost::formula
