// Distributions as Excel names their parameters, on Boost.Math's special functions. Nothing throws: what lies outside
// of a domain, and what is too large, is no number or infinite.
#pragma once

#include <cstdint>

namespace glmhost::formula {

double normal_density(double z);
double normal_below(double z);
double normal_quantile(double probability);  // between 0 and 1

// The t that both tails of Student's distribution leave `probability` beyond.
double student_two_tailed_quantile(double probability, double degrees);

// The probability of `hits` among `drawn`, when `all_hits` of `all` are hits.
double hypergeometric_density(double hits, double drawn, double all_hits, double all);

double log_gamma(double x);

class Distribution {
 public:
  static Distribution poisson(double mean) { return {Kind::poisson, mean, 0}; }
  static Distribution binomial(double trials, double p) { return {Kind::binomial, trials, p}; }
  static Distribution negative_binomial(double successes, double p) { return {Kind::negative_binomial, successes, p}; }
  static Distribution weibull(double shape, double scale) { return {Kind::weibull, shape, scale}; }
  static Distribution gamma(double shape, double scale) { return {Kind::gamma, shape, scale}; }
  static Distribution chi_squared(double degrees) { return {Kind::gamma, degrees / 2, 2}; }
  static Distribution beta(double alpha, double beta) { return {Kind::beta, alpha, beta}; }
  static Distribution lognormal(double mean, double deviation) { return {Kind::lognormal, mean, deviation}; }
  static Distribution fisher(double above, double below) { return {Kind::fisher, above, below}; }
  static Distribution student(double degrees) { return {Kind::student, degrees, 0}; }

  double density(double x) const;
  double below(double x) const;  // the probability of at most x
  double above(double x) const;  // 1 - below(x), where that is small too

  // Of the continuous kinds. 0 < probability < 1.
  double quantile(double probability) const;
  double upper_quantile(double probability) const;  // above(x) is the probability

 private:
  enum class Kind : std::uint8_t {
    poisson,
    binomial,
    negative_binomial,
    weibull,
    gamma,
    beta,
    lognormal,
    fisher,
    student
  };
  Distribution(Kind kind, double first, double second) : kind_(kind), first_(first), second_(second) {}

  double quantile_or_throw(double probability) const;
  double upper_quantile_or_throw(double probability) const;

  Kind kind_;
  double first_, second_;
};

}  // namespace glmhost::formula
