// Tests of hypotheses.
#include <cmath>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/distributions.h"
#include "excel-addin/formula/families.h"
#include "excel-addin/formula/statistics.h"

namespace glmhost::formula {
namespace {

double variance(const std::vector<double>& numbers) {
  return squared_deviations(numbers) / (static_cast<double>(numbers.size()) - 1);
}

// The probability that two samples' variances differ so much by chance.
Value f_test(Arguments& a) {
  const auto left = numbers_in(a, a[0]), right = numbers_in(a, a[1]);
  if (a.error()) return *a.error();
  if (left.size() < 2 || right.size() < 2) return ErrorCode::division;
  const double above = variance(left), below = variance(right);
  if (above == 0 || below == 0) return ErrorCode::division;
  const auto fisher = Distribution::fisher(static_cast<double>(left.size()) - 1, static_cast<double>(right.size()) - 1);
  const double tail = fisher.above(above / below);
  return finite(2 * std::min(tail, 1 - tail));
}

// (sample1, sample2, tails, type): 1 paired, 2 equal variances, 3 unequal ones.
Value t_test(Arguments& a) {
  const double tails = a.whole(2), type = a.whole(3);
  if (type == 1 && cells_of(a[0]).size() != cells_of(a[1]).size()) a.fail(ErrorCode::not_available);
  const auto left = numbers_in(a, a[0]), right = numbers_in(a, a[1]);
  if (a.error()) return *a.error();
  if ((tails != 1 && tails != 2) || type < 1 || type > 3) return ErrorCode::number;
  double t = 0, degrees = 0;
  if (type == 1) {
    const Pairs pairs = pairs_of(a, a[0], a[1]);
    std::vector<double> differences;
    for (std::size_t i = 0; i < pairs.size(); ++i) differences.push_back(pairs.xs[i] - pairs.ys[i]);
    if (differences.size() < 2) return ErrorCode::division;
    degrees = static_cast<double>(differences.size()) - 1;
    t = mean_of(differences) / std::sqrt(variance(differences) / static_cast<double>(differences.size()));
  } else {
    if (left.size() < 2 || right.size() < 2) return ErrorCode::division;
    const double n = static_cast<double>(left.size()), m = static_cast<double>(right.size());
    const double x = variance(left) / n, y = variance(right) / m;
    if (type == 2) {
      degrees = n + m - 2;
      const double pooled = (variance(left) * (n - 1) + variance(right) * (m - 1)) / degrees;
      t = (mean_of(left) - mean_of(right)) / std::sqrt(pooled * (1 / n + 1 / m));
    } else {
      degrees = (x + y) * (x + y) / (x * x / (n - 1) + y * y / (m - 1));
      t = (mean_of(left) - mean_of(right)) / std::sqrt(x + y);
    }
  }
  if (!std::isfinite(t)) return ErrorCode::division;
  return finite(tails * Distribution::student(degrees).above(std::abs(t)));
}

// (sample, mean, [deviation])
Value z_test(Arguments& a) {
  const auto numbers = numbers_in(a, a[0]);
  const double mean = a.number(1);
  if (a.error()) return *a.error();
  if (numbers.empty()) return ErrorCode::not_available;
  const bool has_deviation = a.given(2);
  const double given = a.number(2);
  if (a.error()) return *a.error();
  if (!has_deviation && numbers.size() < 2) return ErrorCode::division;
  const double deviation = has_deviation ? given : std::sqrt(variance(numbers));
  if (has_deviation && deviation <= 0) return ErrorCode::number;
  if (deviation == 0) return ErrorCode::division;
  const double z = (mean_of(numbers) - mean) / (deviation / std::sqrt(static_cast<double>(numbers.size())));
  return finite(normal_below(-z));
}

// (observed, expected)
Value chisq_test(Arguments& a) {
  const std::size_t rows = rows_of(a[0]), columns = columns_of(a[0]);
  if (rows != rows_of(a[1]) || columns != columns_of(a[1]) || rows * columns < 2) a.fail(ErrorCode::not_available);
  if (a.error()) return *a.error();
  const Pairs pairs = pairs_of(a, a[0], a[1]);
  if (a.error()) return *a.error();
  double sum = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs.ys[i] == 0) return ErrorCode::division;
    if (pairs.ys[i] < 0) return ErrorCode::number;
    sum += (pairs.xs[i] - pairs.ys[i]) * (pairs.xs[i] - pairs.ys[i]) / pairs.ys[i];
  }
  const double r = static_cast<double>(rows), c = static_cast<double>(columns);
  const double degrees = rows > 1 && columns > 1 ? (r - 1) * (c - 1) : r * c - 1;
  return finite(Distribution::chi_squared(degrees).above(sum));
}

constexpr Function kFunctions[] = {
    {"F.TEST", "*sample1, *sample2", "The probability that two variances are equal.", f_test},
    {"FTEST", "*sample1, *sample2", "The probability that two variances are equal.", f_test},
    {"T.TEST", "*sample1, *sample2, tails, type", "The probability that two means are equal.", t_test},
    {"TTEST", "*sample1, *sample2, tails, type", "The probability that two means are equal.", t_test},
    {"Z.TEST", "*sample, mean, [deviation]", "The probability of a mean as large as the sample's.", z_test},
    {"ZTEST", "*sample, mean, [deviation]", "The probability of a mean as large as the sample's.", z_test},
    {"CHISQ.TEST", "*observed, *expected", "The probability of so much distance from what is expected.", chisq_test},
    {"CHITEST", "*observed, *expected", "The probability of so much distance from what is expected.", chisq_test},
};

}  // namespace

std::span<const Function> test_functions() {
  return kFunctions;
}

}  // namespace glmhost::formula
