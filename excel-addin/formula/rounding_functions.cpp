#include <cmath>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/decimal_rounding.h"
#include "excel-addin/formula/families.h"

namespace glmhost::formula {
namespace {

template <Rounding rounding>
Value rounded(Arguments& a) {
  const double number = a.number(0);
  const double digits = a.number(1);
  return finite(round_to_digits(number, digits, rounding));
}

Value int_(Arguments& a) {
  return std::floor(a.number(0));
}

// A multiple of `step`, which is positive.
double step_up(double number, double step) {
  return std::ceil(snapped_quotient(number, step)) * step;
}
double step_down(double number, double step) {
  return std::floor(snapped_quotient(number, step)) * step;
}

Value ceiling(Arguments& a) {
  const double number = a.number(0), step = a.number(1);
  if (number == 0 || step == 0) return 0.0;
  if (number > 0 && step < 0) return ErrorCode::number;
  // Two negatives go away from zero.
  return finite(step < 0 ? -step_up(-number, -step) : step_up(number, step));
}

Value floor_(Arguments& a) {
  const double number = a.number(0), step = a.number(1);
  if (number == 0) return 0.0;
  if (step == 0) return ErrorCode::division;
  if (number > 0 && step < 0) return ErrorCode::number;
  return finite(step < 0 ? -step_down(-number, -step) : step_down(number, step));
}

Value ceiling_math(Arguments& a) {
  const double number = a.number(0), step = std::abs(a.number_or(1, 1)), mode = a.number(2);
  if (number == 0 || step == 0) return 0.0;
  return finite(number < 0 && mode != 0 ? step_down(number, step) : step_up(number, step));
}

Value floor_math(Arguments& a) {
  const double number = a.number(0), step = std::abs(a.number_or(1, 1)), mode = a.number(2);
  if (number == 0 || step == 0) return 0.0;
  return finite(number < 0 && mode != 0 ? step_up(number, step) : step_down(number, step));
}

Value ceiling_precise(Arguments& a) {
  const double number = a.number(0), step = std::abs(a.number_or(1, 1));
  return step == 0 ? Value(0.0) : finite(step_up(number, step));
}
Value floor_precise(Arguments& a) {
  const double number = a.number(0), step = std::abs(a.number_or(1, 1));
  return step == 0 ? Value(0.0) : finite(step_down(number, step));
}

Value mround(Arguments& a) {
  const double number = a.number(0), step = a.number(1);
  if (number == 0 || step == 0) return 0.0;
  if ((number < 0) != (step < 0)) return ErrorCode::number;
  return finite(round_to_digits(number / step, 0, Rounding::half_away) * step);
}

Value even(Arguments& a) {
  const double number = a.number(0);
  return std::copysign(std::ceil(std::abs(number) / 2) * 2, number) + 0.0;
}

Value odd(Arguments& a) {
  const double number = a.number(0);
  if (number == 0) return 1.0;
  return std::copysign(std::ceil((std::abs(number) - 1) / 2) * 2 + 1, number);
}

Value mod(Arguments& a) {
  const double number = a.number(0), divisor = a.number(1);
  if (divisor == 0) return ErrorCode::division;
  const double quotient = std::floor(number / divisor);
  constexpr double kMostQuotient = 1.125899906842624e15;
  if (std::abs(quotient) > kMostQuotient) return ErrorCode::number;
  const double rest = std::fmod(number, divisor);  // exact
  return finite(rest != 0 && (rest < 0) != (divisor < 0) ? rest + divisor : rest);
}

Value quotient(Arguments& a) {
  const double number = a.number(0), divisor = a.number(1);
  if (divisor == 0) return ErrorCode::division;
  return finite(std::trunc(number / divisor));
}

constexpr Function kFunctions[] = {
    {"ROUND", "number, digits", "Rounds to a number of digits, halves away from zero.", rounded<Rounding::half_away>},
    {"ROUNDDOWN", "number, digits", "Rounds towards zero to a number of digits.", rounded<Rounding::down>},
    {"ROUNDUP", "number, digits", "Rounds away from zero to a number of digits.", rounded<Rounding::up>},
    {"TRUNC", "number, [digits]", "Cuts a number off behind a number of digits.", rounded<Rounding::down>},
    {"INT", "number", "The largest whole number that is not above.", int_},
    {"CEILING", "number, significance", "Rounds away from zero to a multiple.", ceiling},
    {"FLOOR", "number, significance", "Rounds towards zero to a multiple.", floor_},
    {"CEILING.MATH", "number, [significance], [mode]", "Rounds up to a multiple.", ceiling_math},
    {"FLOOR.MATH", "number, [significance], [mode]", "Rounds down to a multiple.", floor_math},
    {"CEILING.PRECISE", "number, [significance]", "Rounds up to a multiple, whatever the signs.", ceiling_precise},
    {"ISO.CEILING", "number, [significance]", "Rounds up to a multiple, whatever the signs.", ceiling_precise},
    {"FLOOR.PRECISE", "number, [significance]", "Rounds down to a multiple, whatever the signs.", floor_precise},
    {"MROUND", "number, multiple", "Rounds to the nearest multiple.", mround, Trait::refuses_booleans},
    {"EVEN", "number", "Rounds away from zero to an even number.", even},
    {"ODD", "number", "Rounds away from zero to an odd number.", odd},
    {"MOD", "number, divisor", "The remainder, with the divisor's sign.", mod},
    {"QUOTIENT", "numerator, denominator", "The whole part of a division.", quotient, Trait::refuses_booleans},
};

}  // namespace

std::span<const Function> rounding_functions() {
  return kFunctions;
}

}  // namespace glmhost::formula
