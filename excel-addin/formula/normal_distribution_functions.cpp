// The normal distribution and the confidence that rests on it.
#include <cmath>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/distributions.h"
#include "excel-addin/formula/families.h"

namespace glmhost::formula {
namespace {

double density_or_below(double z, bool cumulative) {
  return cumulative ? normal_below(z) : normal_density(z);
}

Value norm_dist(Arguments& a) {
  const double x = a.number(0), mean = a.number(1), deviation = a.number(2);
  const bool cumulative = a.boolean(3);
  if (deviation <= 0) return ErrorCode::number;
  return finite(density_or_below((x - mean) / deviation, cumulative) / (cumulative ? 1 : deviation));
}
Value norm_s_dist(Arguments& a) {
  const double z = a.number(0);
  return density_or_below(z, a.boolean(1));
}
Value normsdist(Arguments& a) {
  return density_or_below(a.number(0), true);
}
Value phi(Arguments& a) {
  return density_or_below(a.number(0), false);
}
Value gauss(Arguments& a) {
  const double z = a.number(0);
  return std::erf(z / std::sqrt(2.0)) / 2;
}

bool is_probability(double p) {
  return p > 0 && p < 1;
}
Value norm_inv(Arguments& a) {
  const double p = a.number(0), mean = a.number(1), deviation = a.number(2);
  if (!is_probability(p) || deviation <= 0) return ErrorCode::number;
  return finite(mean + deviation * normal_quantile(p));
}
Value norm_s_inv(Arguments& a) {
  const double p = a.number(0);
  return is_probability(p) ? finite(normal_quantile(p)) : Value(ErrorCode::number);
}

Value confidence_norm(Arguments& a) {
  const double alpha = a.number(0), deviation = a.number(1), size = a.whole(2);
  if (!is_probability(alpha) || deviation <= 0 || size < 1) return ErrorCode::number;
  return finite(-normal_quantile(alpha / 2) * deviation / std::sqrt(size));
}
Value confidence_t(Arguments& a) {
  const double alpha = a.number(0), deviation = a.number(1), size = a.whole(2);
  if (!is_probability(alpha) || deviation <= 0 || size < 1) return ErrorCode::number;
  if (size == 1) return ErrorCode::division;
  return finite(student_two_tailed_quantile(alpha, size - 1) * deviation / std::sqrt(size));
}

Value fisher(Arguments& a) {
  const double x = a.number(0);
  return std::abs(x) < 1 ? Value(std::atanh(x)) : Value(ErrorCode::number);
}
Value fisherinv(Arguments& a) {
  return std::tanh(a.number(0));
}

constexpr Function kFunctions[] = {
    {"NORM.DIST", "x, mean, deviation, cumulative", "The normal distribution.", norm_dist},
    {"NORMDIST", "x, mean, deviation, cumulative", "The normal distribution.", norm_dist},
    {"NORM.S.DIST", "z, cumulative", "The standard normal distribution.", norm_s_dist},
    {"NORMSDIST", "z", "The standard normal distribution.", normsdist},
    {"NORM.INV", "probability, mean, deviation", "The x of a normal probability.", norm_inv},
    {"NORMINV", "probability, mean, deviation", "The x of a normal probability.", norm_inv},
    {"NORM.S.INV", "probability", "The z of a standard normal probability.", norm_s_inv},
    {"NORMSINV", "probability", "The z of a standard normal probability.", norm_s_inv},
    {"PHI", "x", "The standard normal density.", phi},
    {"GAUSS", "z", "The probability between the mean and z deviations.", gauss},
    {"CONFIDENCE", "alpha, deviation, size", "Half the width of a confidence interval.", confidence_norm},
    {"CONFIDENCE.NORM", "alpha, deviation, size", "Half the width of a confidence interval.", confidence_norm},
    {"CONFIDENCE.T", "alpha, deviation, size", "The same by Student's distribution.", confidence_t},
    {"FISHER", "x", "Fisher's transformation.", fisher},
    {"FISHERINV", "y", "The inverse of Fisher's transformation.", fisherinv},
};

}  // namespace

std::span<const Function> normal_distribution_functions() {
  return kFunctions;
}

}  // namespace glmhost::formula
