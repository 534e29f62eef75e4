// Sums of squares and pairs, carefully added: what many statistical functions share.
#pragma once

#include <span>
#include <vector>

#include "excel-addin/formula/arguments.h"

namespace glmhost::formula {

double mean_of(std::span<const double> numbers);

// The sum of squared distances from the mean.
double squared_deviations(std::span<const double> numbers);

// The numbers of two arrays of one size that lie alike; a pair of which one is no number is left out. Notes errors
// among the cells, and #N/A when the sizes differ.
struct Pairs {
  std::vector<double> xs, ys;
  std::size_t size() const { return xs.size(); }
};
enum class PairOrder { xs_first, ys_first };  // in the call
Pairs pairs_of(Arguments& arguments, const Value& first, const Value& second, PairOrder order = PairOrder::xs_first);

struct Moments {
  double mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;  // sums of products of distances from the means
};
Moments moments_of(const Pairs& pairs);

// Among sorted numbers, at `position` from 0, between two neighbours in proportion.
double interpolated(std::span<const double> sorted, double position);

}  // namespace glmhost::formula
