// Distributions other than the normal. distributions.h has the mathematics.
#include <algorithm>
#include <cmath>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/distributions.h"
#include "excel-addin/formula/families.h"

namespace glmhost::formula {
namespace {

constexpr double kMostDegrees = 1e10;

bool is_probability(double p) {
  return p > 0 && p < 1;
}

Value density_or_below(const Distribution& distribution, double x, bool cumulative) {
  return finite(cumulative ? distribution.below(x) : distribution.density(x));
}

Value poisson(Arguments& a) {
  const double x = a.whole(0), mean = a.number(1);
  const bool cumulative = a.boolean(2);
  if (a.number(0) < 0 || mean < 0) return ErrorCode::number;
  if (mean == 0) return cumulative || x == 0 ? 1.0 : 0.0;
  return density_or_below(Distribution::poisson(mean), x, cumulative);
}

Value binom_dist(Arguments& a) {
  const double successes = a.whole(0), trials = a.whole(1), p = a.number(2);
  const bool cumulative = a.boolean(3);
  if (successes < 0 || trials < 0 || successes > trials || p < 0 || p > 1) return ErrorCode::number;
  return density_or_below(Distribution::binomial(trials, p), successes, cumulative);
}
Value binom_dist_range(Arguments& a) {
  const double trials = a.whole(0), p = a.number(1), first = a.whole(2), last = a.whole(3, first);
  if (trials < 0 || p < 0 || p > 1 || first < 0 || first > trials || last < first || last > trials)
    return ErrorCode::number;
  const Distribution distribution = Distribution::binomial(trials, p);
  double sum = 0;
  for (double k = first; k <= last && k - first < 1e6; ++k) sum += distribution.density(k);
  return finite(sum);
}
Value binom_inv(Arguments& a) {
  const double trials = a.whole(0), p = a.number(1), alpha = a.number(2);
  if (trials < 0 || p < 0 || p > 1 || !is_probability(alpha)) return ErrorCode::number;
  if (p == 0 || trials == 0) return 0.0;
  if (p == 1) return trials;
  const Distribution distribution = Distribution::binomial(trials, p);
  // The least k that reaches alpha, by bisection.
  double low = 0, high = trials;
  while (low < high) {
    const double middle = std::floor((low + high) / 2);
    if (distribution.below(middle) >= alpha)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}
Value negbinom_pmf_or_cdf(double failures, double successes, double p, bool cumulative) {
  if (failures < 0 || successes < 1 || p <= 0 || p >= 1) return ErrorCode::number;
  return density_or_below(Distribution::negative_binomial(successes, p), failures, cumulative);
}
Value negbinom_dist(Arguments& a) {
  const double failures = a.whole(0), successes = a.whole(1), p = a.number(2);
  return negbinom_pmf_or_cdf(failures, successes, p, a.boolean(3));
}
Value hypgeom(Arguments& a) {
  const double hits = a.whole(0), drawn = a.whole(1), all_hits = a.whole(2), all = a.whole(3);
  const bool cumulative = a.boolean(4);
  if (hits < 0 || drawn < 0 || drawn > all || all_hits < 0 || all_hits > all || all <= 0 || all > 4e9 ||
      hits > std::min(drawn, all_hits)) {
    return ErrorCode::number;
  }
  if (hits < std::max(0.0, drawn - all + all_hits)) return 0.0;
  constexpr double kMostDrawn = 1e6;
  if (drawn > kMostDrawn) return ErrorCode::number;
  double result = hypergeometric_density(hits, drawn, all_hits, all);
  for (double k = hits - 1; cumulative && k >= 0; --k) {
    const double more = hypergeometric_density(k, drawn, all_hits, all);
    result += more;
    if (more == 0) break;
  }
  return finite(result);
}

Value expon_dist(Arguments& a) {
  const double x = a.number(0), rate = a.number(1);
  const bool cumulative = a.boolean(2);
  if (x < 0 || rate <= 0) return ErrorCode::number;
  return finite(cumulative ? -std::expm1(-rate * x) : rate * std::exp(-rate * x));
}
Value weibull(Arguments& a) {
  const double x = a.number(0), shape = a.number(1), scale = a.number(2);
  const bool cumulative = a.boolean(3);
  if (x < 0 || shape <= 0 || scale <= 0) return ErrorCode::number;
  return density_or_below(Distribution::weibull(shape, scale), x, cumulative);
}

Value gamma_dist(Arguments& a) {
  const double x = a.number(0), shape = a.number(1), scale = a.number(2);
  const bool cumulative = a.boolean(3);
  if (x < 0 || shape <= 0 || scale <= 0) return ErrorCode::number;
  if (x == 0 && !cumulative) return shape < 1 ? Value(ErrorCode::number) : Value(shape == 1 ? 1 / scale : 0.0);
  return density_or_below(Distribution::gamma(shape, scale), x, cumulative);
}
Value gamma_inv(Arguments& a) {
  const double p = a.number(0), shape = a.number(1), scale = a.number(2);
  if (p < 0 || p >= 1 || shape <= 0 || scale <= 0) return ErrorCode::number;
  return p == 0 ? Value(0.0) : finite(Distribution::gamma(shape, scale).quantile(p));
}

Value beta_dist(Arguments& a) {
  const double x = a.number(0), alpha = a.number(1), beta = a.number(2);
  const bool old_form = a.function().name == "BETADIST";
  const bool cumulative = old_form || a.boolean(3);
  const std::size_t bounds = old_form ? 3 : 4;
  const double low = a.number_or(bounds, 0), high = a.number_or(bounds + 1, 1);
  if (alpha <= 0 || beta <= 0 || x < low || x > high || low == high) return ErrorCode::number;
  const double z = (x - low) / (high - low);
  if (cumulative) return finite(Distribution::beta(alpha, beta).below(z));
  if ((z == 0 && alpha < 1) || (z == 1 && beta < 1)) return ErrorCode::number;
  return finite(Distribution::beta(alpha, beta).density(z) / (high - low));
}
Value beta_inv(Arguments& a) {
  const double p = a.number(0), alpha = a.number(1), beta = a.number(2), low = a.number_or(3, 0),
               high = a.number_or(4, 1);
  if (alpha <= 0 || beta <= 0 || !(p > 0 && p <= 1) || low >= high) return ErrorCode::number;
  return finite(low + (high - low) * (p == 1 ? 1 : Distribution::beta(alpha, beta).quantile(p)));
}

Value lognorm_dist(Arguments& a) {
  const double x = a.number(0), mean = a.number(1), deviation = a.number(2);
  const bool cumulative = a.function().name == "LOGNORMDIST" || a.boolean(3);
  if (x <= 0 || deviation <= 0) return ErrorCode::number;
  return density_or_below(Distribution::lognormal(mean, deviation), x, cumulative);
}
Value lognorm_inv(Arguments& a) {
  const double p = a.number(0), mean = a.number(1), deviation = a.number(2);
  if (!is_probability(p) || deviation <= 0) return ErrorCode::number;
  return finite(Distribution::lognormal(mean, deviation).quantile(p));
}

bool are_degrees(double degrees) {
  return degrees >= 1 && degrees <= kMostDegrees;
}
Value chisq_dist(Arguments& a) {
  const double x = a.number(0), degrees = a.whole(1);
  const bool cumulative = a.boolean(2);
  if (x < 0 || !are_degrees(degrees)) return ErrorCode::number;
  if (x == 0 && !cumulative) return degrees < 2 ? Value(ErrorCode::number) : Value(degrees == 2 ? 0.5 : 0.0);
  return density_or_below(Distribution::chi_squared(degrees), x, cumulative);
}
Value chisq_dist_rt(Arguments& a) {
  const double x = a.number(0), degrees = a.whole(1);
  if (x < 0 || !are_degrees(degrees)) return ErrorCode::number;
  return finite(Distribution::chi_squared(degrees).above(x));
}
Value chisq_inv(Arguments& a) {
  const double p = a.number(0), degrees = a.whole(1);
  if (p < 0 || p >= 1 || !are_degrees(degrees)) return ErrorCode::number;
  return finite(p == 0 ? 0 : Distribution::chi_squared(degrees).quantile(p));
}
Value chisq_inv_rt(Arguments& a) {
  const double p = a.number(0), degrees = a.whole(1);
  if (p <= 0 || p > 1 || !are_degrees(degrees)) return ErrorCode::number;
  return finite(p == 1 ? 0 : Distribution::chi_squared(degrees).upper_quantile(p));
}

Value f_dist(Arguments& a) {
  const double x = a.number(0), above = a.whole(1), below = a.whole(2);
  const bool cumulative = a.boolean(3);
  if (x < 0 || !are_degrees(above) || !are_degrees(below)) return ErrorCode::number;
  if (x == 0 && !cumulative) return above < 2 ? Value(ErrorCode::number) : Value(above == 2 ? 1.0 : 0.0);
  return density_or_below(Distribution::fisher(above, below), x, cumulative);
}
Value f_dist_rt(Arguments& a) {
  const double x = a.number(0), above = a.whole(1), below = a.whole(2);
  if (x < 0 || !are_degrees(above) || !are_degrees(below)) return ErrorCode::number;
  return finite(Distribution::fisher(above, below).above(x));
}
Value f_inv(Arguments& a) {
  const double p = a.number(0), above = a.whole(1), below = a.whole(2);
  if (p < 0 || p >= 1 || !are_degrees(above) || !are_degrees(below)) return ErrorCode::number;
  return finite(p == 0 ? 0 : Distribution::fisher(above, below).quantile(p));
}
Value f_inv_rt(Arguments& a) {
  const double p = a.number(0), above = a.whole(1), below = a.whole(2);
  if (p <= 0 || p > 1 || !are_degrees(above) || !are_degrees(below)) return ErrorCode::number;
  return finite(p == 1 ? 0 : Distribution::fisher(above, below).upper_quantile(p));
}

Value t_dist(Arguments& a) {
  const double x = a.number(0), degrees = a.whole(1);
  const bool cumulative = a.boolean(2);
  return are_degrees(degrees) ? density_or_below(Distribution::student(degrees), x, cumulative)
                              : Value(ErrorCode::number);
}
Value t_dist_rt(Arguments& a) {
  const double x = a.number(0), degrees = a.whole(1);
  return are_degrees(degrees) ? finite(Distribution::student(degrees).above(x)) : Value(ErrorCode::number);
}
Value t_dist_2t(Arguments& a) {
  const double x = a.number(0), degrees = a.whole(1);
  if (x < 0 || !are_degrees(degrees)) return ErrorCode::number;
  return finite(2 * Distribution::student(degrees).above(x));
}
Value tdist(Arguments& a) {
  const double x = a.number(0), degrees = a.whole(1), tails = a.whole(2);
  if (x < 0 || !are_degrees(degrees) || (tails != 1 && tails != 2)) return ErrorCode::number;
  return finite(tails * Distribution::student(degrees).above(x));
}
Value t_inv(Arguments& a) {
  const double p = a.number(0), degrees = a.whole(1);
  if (!is_probability(p) || !are_degrees(degrees)) return ErrorCode::number;
  return p == 0.5 ? Value(0.0) : finite(Distribution::student(degrees).quantile(p));
}
Value t_inv_2t(Arguments& a) {
  const double p = a.number(0), degrees = a.whole(1);
  if (!(p > 0 && p <= 1) || !are_degrees(degrees)) return ErrorCode::number;
  return p == 1 ? Value(0.0) : finite(Distribution::student(degrees).upper_quantile(p / 2));
}

Value gammaln(Arguments& a) {
  const double x = a.number(0);
  return x > 0 ? finite(log_gamma(x)) : Value(ErrorCode::number);
}
Value gamma(Arguments& a) {
  const double x = a.number(0);
  constexpr double kLargest = 171.7;
  if (x == 0 || (x < 0 && x == std::floor(x)) || x > kLargest) return ErrorCode::number;
  return finite(std::tgamma(x));
}

constexpr Function kFunctions[] = {
    {"GAMMA", "x", "The gamma function.", gamma},
    {"GAMMALN", "x", "The logarithm of the gamma function.", gammaln},
    {"GAMMALN.PRECISE", "x", "The logarithm of the gamma function.", gammaln},
    {"POISSON.DIST", "x, mean, cumulative", "The Poisson distribution.", poisson},
    {"POISSON", "x, mean, cumulative", "The Poisson distribution.", poisson},
    {"BINOM.DIST", "successes, trials, probability, cumulative", "The binomial distribution.", binom_dist},
    {"BINOMDIST", "successes, trials, probability, cumulative", "The binomial distribution.", binom_dist},
    {"BINOM.DIST.RANGE", "trials, probability, first, [last]", "The probability of a range of successes.",
     binom_dist_range},
    {"BINOM.INV", "trials, probability, alpha", "The least number of successes that reaches a probability.", binom_inv},
    {"CRITBINOM", "trials, probability, alpha", "The least number of successes that reaches a probability.", binom_inv},
    {"NEGBINOM.DIST", "failures, successes, probability, cumulative", "The negative binomial distribution.",
     negbinom_dist},
    {"NEGBINOMDIST", "failures, successes, probability", "The negative binomial distribution.", negbinom_dist},
    {"HYPGEOM.DIST", "hits, drawn, all_hits, all, cumulative", "The hypergeometric distribution.", hypgeom},
    {"HYPGEOMDIST", "hits, drawn, all_hits, all", "The hypergeometric distribution.", hypgeom},
    {"EXPON.DIST", "x, rate, cumulative", "The exponential distribution.", expon_dist},
    {"EXPONDIST", "x, rate, cumulative", "The exponential distribution.", expon_dist},
    {"WEIBULL.DIST", "x, shape, scale, cumulative", "The Weibull distribution.", weibull},
    {"WEIBULL", "x, shape, scale, cumulative", "The Weibull distribution.", weibull},
    {"GAMMA.DIST", "x, shape, scale, cumulative", "The gamma distribution.", gamma_dist},
    {"GAMMADIST", "x, shape, scale, cumulative", "The gamma distribution.", gamma_dist},
    {"GAMMA.INV", "probability, shape, scale", "The x of a gamma probability.", gamma_inv},
    {"GAMMAINV", "probability, shape, scale", "The x of a gamma probability.", gamma_inv},
    {"BETA.DIST", "x, alpha, beta, cumulative, [low], [high]", "The beta distribution.", beta_dist},
    {"BETADIST", "x, alpha, beta, [low], [high]", "The beta distribution.", beta_dist},
    {"BETA.INV", "probability, alpha, beta, [low], [high]", "The x of a beta probability.", beta_inv},
    {"BETAINV", "probability, alpha, beta, [low], [high]", "The x of a beta probability.", beta_inv},
    {"LOGNORM.DIST", "x, mean, deviation, cumulative", "The lognormal distribution.", lognorm_dist},
    {"LOGNORMDIST", "x, mean, deviation", "The lognormal distribution.", lognorm_dist},
    {"LOGNORM.INV", "probability, mean, deviation", "The x of a lognormal probability.", lognorm_inv},
    {"LOGINV", "probability, mean, deviation", "The x of a lognormal probability.", lognorm_inv},
    {"CHISQ.DIST", "x, degrees, cumulative", "The chi-squared distribution.", chisq_dist},
    {"CHISQ.DIST.RT", "x, degrees", "Its right tail.", chisq_dist_rt},
    {"CHIDIST", "x, degrees", "The chi-squared distribution's right tail.", chisq_dist_rt},
    {"CHISQ.INV", "probability, degrees", "The x of a chi-squared probability.", chisq_inv},
    {"CHISQ.INV.RT", "probability, degrees", "The x of a chi-squared right tail.", chisq_inv_rt},
    {"CHIINV", "probability, degrees", "The x of a chi-squared right tail.", chisq_inv_rt},
    {"F.DIST", "x, degrees1, degrees2, cumulative", "Fisher's F distribution.", f_dist},
    {"F.DIST.RT", "x, degrees1, degrees2", "Its right tail.", f_dist_rt},
    {"FDIST", "x, degrees1, degrees2", "The F distribution's right tail.", f_dist_rt},
    {"F.INV", "probability, degrees1, degrees2", "The x of an F probability.", f_inv},
    {"F.INV.RT", "probability, degrees1, degrees2", "The x of an F right tail.", f_inv_rt},
    {"FINV", "probability, degrees1, degrees2", "The x of an F right tail.", f_inv_rt},
    {"T.DIST", "x, degrees, cumulative", "Student's t distribution.", t_dist},
    {"T.DIST.RT", "x, degrees", "Its right tail.", t_dist_rt},
    {"T.DIST.2T", "x, degrees", "Both of its tails.", t_dist_2t},
    {"TDIST", "x, degrees, tails", "One or both tails of Student's t distribution.", tdist},
    {"T.INV", "probability, degrees", "The x of Student's t probability.", t_inv},
    {"T.INV.2T", "probability, degrees", "The x of both of Student's t tails.", t_inv_2t},
    {"TINV", "probability, degrees", "The x of both of Student's t tails.", t_inv_2t},
};

}  // namespace

std::span<const Function> distribution_functions() {
  return kFunctions;
}

}  // namespace glmhost::formula
