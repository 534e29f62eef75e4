#include "excel-addin/formula/annuity.h"

#include <cmath>

namespace glmhost::formula {
namespace {

// ((1+r)^n - 1) / r, exact for small rates.
double growth_sum(double rate, double periods) {
  if (rate == 0) return periods;
  // Excel's way where there is nothing to lose.
  if (rate <= -1 || std::abs(rate * periods) > 1) return (std::pow(1 + rate, periods) - 1) / rate;
  return std::expm1(periods * std::log1p(rate)) / rate;
}

double due_factor(const Annuity& annuity) {
  return annuity.due ? 1 + annuity.rate : 1;
}

}  // namespace

double future_value(const Annuity& annuity) {
  const double growth = std::pow(1 + annuity.rate, annuity.periods);
  return -(annuity.present * growth +
           annuity.payment * due_factor(annuity) * growth_sum(annuity.rate, annuity.periods));
}

double present_value(const Annuity& annuity) {
  const double growth = std::pow(1 + annuity.rate, annuity.periods);
  return -(annuity.future + annuity.payment * due_factor(annuity) * growth_sum(annuity.rate, annuity.periods)) / growth;
}

double payment(const Annuity& annuity) {
  const double growth = std::pow(1 + annuity.rate, annuity.periods);
  return -(annuity.future + annuity.present * growth) /
         (due_factor(annuity) * growth_sum(annuity.rate, annuity.periods));
}

// The first repayment is r (pv + fv) / ((1+r)^n - 1), and each is 1+r times the one before: no digits are lost to a
// difference.
double repayment_part(const Annuity& annuity, double period) {
  if (annuity.due || annuity.rate == 0) return annuity.payment - interest_part(annuity, period);
  const double first = -(annuity.present + annuity.future) / growth_sum(annuity.rate, annuity.periods);
  return first * std::pow(1 + annuity.rate, period - 1);
}

double interest_part(const Annuity& annuity, double period) {
  if (annuity.due && period == 1) return 0;
  Annuity before = annuity;
  before.periods = annuity.due ? period - 2 : period - 1;
  const double owed = future_value(before);
  return (annuity.due ? owed - annuity.payment : owed) * annuity.rate;
}

}  // namespace glmhost::formula
