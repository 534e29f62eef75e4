#include "excel-addin/formula/distributions.h"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <exception>
#include <limits>
#include <numbers>

namespace glmhost::formula {
namespace {

namespace bm = boost::math;
using namespace boost::math::policies;
using Quiet = policy<domain_error<ignore_error>, pole_error<ignore_error>, overflow_error<ignore_error>,
                     underflow_error<ignore_error>, denorm_error<ignore_error>, rounding_error<ignore_error>,
                     evaluation_error<ignore_error>, indeterminate_result_error<ignore_error>, promote_double<false>>;
constexpr Quiet kQuiet{};

// Of F's x, as the beta distribution that it is: the variable and its complement.
struct BetaVariable {
  double z, rest;
};
BetaVariable beta_of_fisher(double x, double above, double below) {
  const double sum = above * x + below;
  return {above * x / sum, below / sum};
}

double student_tail(double t, double degrees) {  // t >= 0: the probability beyond t
  const double square = t * t;
  if (square > degrees) return bm::ibeta(degrees / 2, 0.5, degrees / (degrees + square), kQuiet) / 2;
  return bm::ibetac(0.5, degrees / 2, square / (degrees + square), kQuiet) / 2;
}

}  // namespace

double normal_density(double z) {
  return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
}

double normal_below(double z) {
  return std::erfc(-z / std::numbers::sqrt2) / 2;
}

double normal_quantile(double probability) {
  return -std::numbers::sqrt2 * bm::erfc_inv(2 * probability, kQuiet);
}

double student_two_tailed_quantile(double probability, double degrees) {
  double rest = 0;
  const double z = bm::ibeta_inv(degrees / 2, 0.5, probability, &rest, kQuiet);
  return std::sqrt(degrees * rest / z);
}

// C(K,k) C(N-K,n-k) / C(N,n), factors and divisors taken in turn so that nothing runs over.
double hypergeometric_density(double hits, double drawn, double all_hits, double all) {
  const double misses = drawn - hits, all_misses = all - all_hits;
  if (hits > all_hits || misses > all_misses) return 0;
  double result = 1, hit = 0, miss = 0, divided = 0;
  while (hit < hits || miss < misses || divided < drawn) {
    if ((result < 1 || divided >= drawn) && hit < hits) {
      result *= (all_hits - hit) / (hit + 1);
      ++hit;
    } else if ((result < 1 || divided >= drawn) && miss < misses) {
      result *= (all_misses - miss) / (miss + 1);
      ++miss;
    } else {
      result *= (divided + 1) / (all - divided);
      ++divided;
    }
  }
  return result;
}

double log_gamma(double x) {
  return bm::lgamma(x, kQuiet);
}

double Distribution::density(double x) const {
  switch (kind_) {
    case Kind::poisson:
      return bm::gamma_p_derivative(x + 1, first_, kQuiet);
    case Kind::binomial:
      if (second_ == 0) return x == 0 ? 1 : 0;
      if (second_ == 1) return x == first_ ? 1 : 0;
      return bm::ibeta_derivative(x + 1, first_ - x + 1, second_, kQuiet) / (first_ + 1);
    case Kind::negative_binomial:
      return second_ / (first_ + x) * bm::ibeta_derivative(first_, x + 1, second_, kQuiet);
    case Kind::weibull: {
      const double power = std::pow(x / second_, first_ - 1);
      return first_ / second_ * power * std::exp(-power * x / second_);
    }
    case Kind::gamma:
      return bm::gamma_p_derivative(first_, x / second_, kQuiet) / second_;
    case Kind::beta:
      return bm::ibeta_derivative(first_, second_, x, kQuiet);
    case Kind::lognormal: {
      const double z = (std::log(x) - first_) / second_;
      return normal_density(z) / (x * second_);
    }
    case Kind::fisher: {
      const double sum = first_ * x + second_;
      return bm::ibeta_derivative(first_ / 2, second_ / 2, first_ * x / sum, kQuiet) * first_ * second_ / (sum * sum);
    }
    default: {
      const double ratio = bm::tgamma_delta_ratio(first_ / 2, 0.5, kQuiet);
      return std::exp(-(first_ + 1) / 2 * std::log1p(x * x / first_)) / (std::sqrt(first_ * std::numbers::pi) * ratio);
    }
  }
}

double Distribution::below(double x) const {
  switch (kind_) {
    case Kind::poisson:
      return bm::gamma_q(x + 1, first_, kQuiet);
    case Kind::binomial:
      return x >= first_ || second_ == 0 ? 1 : second_ == 1 ? 0 : bm::ibetac(x + 1, first_ - x, second_, kQuiet);
    case Kind::negative_binomial:
      return bm::ibeta(first_, x + 1, second_, kQuiet);
    case Kind::weibull:
      return -std::expm1(-std::pow(x / second_, first_));
    case Kind::gamma:
      return bm::gamma_p(first_, x / second_, kQuiet);
    case Kind::beta:
      return bm::ibeta(first_, second_, x, kQuiet);
    case Kind::lognormal:
      return normal_below((std::log(x) - first_) / second_);
    case Kind::fisher: {
      const BetaVariable v = beta_of_fisher(x, first_, second_);
      return v.z < 0.5 ? bm::ibeta(first_ / 2, second_ / 2, v.z, kQuiet)
                       : bm::ibetac(second_ / 2, first_ / 2, v.rest, kQuiet);
    }
    default:
      return x <= 0 ? student_tail(-x, first_) : 1 - student_tail(x, first_);
  }
}

double Distribution::above(double x) const {
  switch (kind_) {
    case Kind::gamma:
      return bm::gamma_q(first_, x / second_, kQuiet);
    case Kind::fisher: {
      const BetaVariable v = beta_of_fisher(x, first_, second_);
      return v.z < 0.5 ? bm::ibetac(first_ / 2, second_ / 2, v.z, kQuiet)
                       : bm::ibeta(second_ / 2, first_ / 2, v.rest, kQuiet);
    }
    case Kind::student:
      return x >= 0 ? student_tail(x, first_) : 1 - student_tail(-x, first_);
    default:
      return 1 - below(x);
  }
}

double Distribution::quantile(double probability) const {
  try {
    return quantile_or_throw(probability);
  } catch (const std::exception&) {  // a search inside of Boost that has no policy gave up
    return std::numeric_limits<double>::quiet_NaN();
  }
}

double Distribution::upper_quantile(double probability) const {
  try {
    return upper_quantile_or_throw(probability);
  } catch (const std::exception&) {
    return std::numeric_limits<double>::quiet_NaN();
  }
}

double Distribution::quantile_or_throw(double probability) const {
  switch (kind_) {
    case Kind::gamma:
      return second_ * bm::gamma_p_inv(first_, probability, kQuiet);
    case Kind::beta:
      return bm::ibeta_inv(first_, second_, probability, kQuiet);
    case Kind::lognormal:
      return std::exp(first_ + second_ * normal_quantile(probability));
    case Kind::fisher: {
      double rest = 0;
      const double z = bm::ibeta_inv(first_ / 2, second_ / 2, probability, &rest, kQuiet);
      return second_ * z / (first_ * rest);
    }
    case Kind::student:
      return probability < 0.5 ? -student_two_tailed_quantile(2 * probability, first_)
                               : student_two_tailed_quantile(2 * (1 - probability), first_);
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

double Distribution::upper_quantile_or_throw(double probability) const {
  switch (kind_) {
    case Kind::gamma:
      return second_ * bm::gamma_q_inv(first_, probability, kQuiet);
    case Kind::fisher: {
      double rest = 0;
      const double z = bm::ibetac_inv(first_ / 2, second_ / 2, probability, &rest, kQuiet);
      return second_ * z / (first_ * rest);
    }
    case Kind::student:
      return -quantile(probability);
    default:
      return quantile(1 - probability);
  }
}

}  // namespace glmhost::formula
