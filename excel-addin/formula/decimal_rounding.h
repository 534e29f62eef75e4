// Rounding to decimal digits as Excel does: the number counts as its first 15 digits, so that 2.675 is what it looks
// like and not the double a little below it.
#pragma once

namespace glmhost::formula {

enum class Rounding {
  half_away,  // ROUND
  down,       // ROUNDDOWN, TRUNC: towards zero
  up,         // ROUNDUP: away from zero
};

// digits < 0 rounds left of the decimal point.
double round_to_digits(double number, double digits, Rounding rounding);

// The quotient, or the whole number that it is in 15 digits.
double snapped_quotient(double dividend, double divisor);

}  // namespace glmhost::formula
