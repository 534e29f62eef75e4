#include "excel-addin/formula/decimal_rounding.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "excel-addin/formula/coercion.h"
#include "excel-addin/formula/number_text.h"

namespace glmhost::formula {
namespace {

double from_digits(const std::string& digits, int exponent_of_last) {
  const std::string text = digits + "e" + std::to_string(exponent_of_last);
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Adds one in the last place.
void increment(std::string& digits) {
  std::size_t i = digits.size();
  while (i > 0 && digits[i - 1] == '9') digits[--i] = '0';
  if (i > 0) {
    ++digits[i - 1];
  } else {
    digits.insert(digits.begin(), '1');
  }
}

}  // namespace

double round_to_digits(double number, double digits, Rounding rounding) {
  if (number == 0 || !std::isfinite(number)) return number;
  const Decimal decimal = to_decimal(std::abs(number), 15);
  const int places = static_cast<int>(std::clamp(std::trunc(digits), -400.0, 400.0));
  const int kept = decimal.exponent + 1 + places;  // digits left of the place that is rounded to
  const int count = static_cast<int>(decimal.digits.size());
  if (kept >= count)
    return rounding == Rounding::half_away || count < 15
               ? number
               : std::copysign(from_digits(decimal.digits, decimal.exponent + 1 - count), number);
  std::string result = kept > 0 ? decimal.digits.substr(0, static_cast<std::size_t>(kept)) : "0";
  bool away = rounding == Rounding::up;  // there are digits behind, none of them at the end is 0
  if (rounding == Rounding::half_away) away = kept >= 0 && decimal.digits[static_cast<std::size_t>(kept)] >= '5';
  if (away) increment(result);
  return std::copysign(from_digits(result, -places), number);
}

double snapped_quotient(double dividend, double divisor) {
  const double quotient = dividend / divisor;
  const double whole = std::round(quotient);
  return equal_numbers(quotient, whole) ? whole : quotient;
}

}  // namespace glmhost::formula
