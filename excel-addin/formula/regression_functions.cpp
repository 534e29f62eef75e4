// What is told of two sets of numbers that belong together.
#include <cmath>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/families.h"
#include "excel-addin/formula/statistics.h"

namespace glmhost::formula {
namespace {

Value quotient(double above, double below) {
  return below == 0 ? Value(ErrorCode::division) : finite(above / below);
}

Value correl(Arguments& a) {
  const Pairs pairs = pairs_of(a, a[0], a[1]);
  const Moments m = moments_of(pairs);
  return quotient(m.xy, std::sqrt(m.xx) * std::sqrt(m.yy));
}

// The functions of a line take (ys, xs).
Value slope(Arguments& a) {
  const Moments m = moments_of(pairs_of(a, a[0], a[1], PairOrder::ys_first));
  return quotient(m.xy, m.xx);
}
Value intercept(Arguments& a) {
  const Moments m = moments_of(pairs_of(a, a[0], a[1], PairOrder::ys_first));
  return m.xx == 0 ? Value(ErrorCode::division) : finite(m.mean_y - m.xy / m.xx * m.mean_x);
}
Value rsq(Arguments& a) {
  const Moments m = moments_of(pairs_of(a, a[0], a[1], PairOrder::ys_first));
  return quotient(m.xy * m.xy, m.xx * m.yy);
}
Value steyx(Arguments& a) {
  const Pairs pairs = pairs_of(a, a[0], a[1], PairOrder::ys_first);
  const Moments m = moments_of(pairs);
  if (pairs.size() < 3 || m.xx == 0) return ErrorCode::division;
  return finite(std::sqrt(std::max(m.yy - m.xy * m.xy / m.xx, 0.0) / (static_cast<double>(pairs.size()) - 2)));
}
Value forecast(Arguments& a) {
  const double x = a.number(0);
  const Moments m = moments_of(pairs_of(a, a[1], a[2], PairOrder::ys_first));
  return m.xx == 0 ? Value(ErrorCode::division) : finite(m.mean_y + m.xy / m.xx * (x - m.mean_x));
}

template <int lost>
Value covariance(Arguments& a) {
  const Pairs pairs = pairs_of(a, a[0], a[1]);
  const double n = static_cast<double>(pairs.size()) - lost;
  return n <= 0 ? Value(ErrorCode::division) : finite(moments_of(pairs).xy / n);
}

constexpr Trait kAggregate = Trait::aggregate;
constexpr Function kFunctions[] = {
    {"CORREL", "*xs, *ys", "The correlation.", correl, kAggregate},
    {"PEARSON", "*xs, *ys", "The correlation.", correl, kAggregate},
    {"SLOPE", "*ys, *xs", "The slope of the line nearest to the points.", slope, kAggregate},
    {"INTERCEPT", "*ys, *xs", "Where that line meets the y axis.", intercept, kAggregate},
    {"RSQ", "*ys, *xs", "The squared correlation.", rsq, kAggregate},
    {"STEYX", "*ys, *xs", "The standard error of that line.", steyx, kAggregate},
    {"FORECAST", "x, *ys, *xs", "That line's y at x.", forecast},
    {"FORECAST.LINEAR", "x, *ys, *xs", "That line's y at x.", forecast},
    {"COVAR", "*xs, *ys", "The covariance of a population.", covariance<0>, kAggregate},
    {"COVARIANCE.P", "*xs, *ys", "The covariance of a population.", covariance<0>, kAggregate},
    {"COVARIANCE.S", "*xs, *ys", "The covariance of a sample.", covariance<1>, kAggregate},
};

}  // namespace

std::span<const Function> regression_functions() {
  return kFunctions;
}

}  // namespace glmhost::formula
