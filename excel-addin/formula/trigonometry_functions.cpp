#include <cmath>
#include <numbers>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/families.h"

namespace glmhost::formula {
namespace {

constexpr double kLargestAngle = 134'217'728;  // 2^27: Excel's sine ends there

// f of the first argument.
template <double (*f)(double)>
Value of_number(Arguments& a) {
  return finite(f(a.number(0)));
}

template <double (*f)(double)>
Value of_angle(Arguments& a) {
  const double angle = a.number(0);
  return std::abs(angle) < kLargestAngle ? finite(f(angle)) : Value(ErrorCode::number);
}

// 1 / f: the secant and its like.
template <double (*f)(double)>
Value reciprocal_of_angle(Arguments& a) {
  const double angle = a.number(0);
  if (!(std::abs(angle) < kLargestAngle)) return ErrorCode::number;
  const double value = f(angle);
  return value == 0 ? Value(ErrorCode::division) : finite(1 / value);
}

// Where f grows without end its reciprocal is 0.
template <double (*f)(double)>
Value reciprocal(Arguments& a) {
  const double number = a.number(0);
  const double value = f(number);
  return value == 0 ? Value(ErrorCode::division) : Value(1 / value);
}

double arc_cotangent(double x) {
  return std::numbers::pi / 2 - std::atan(x);
}
double arc_hyperbolic_cotangent(double x) {
  return 0.5 * std::log1p(2 / (x - 1));
}
double hyperbolic_cotangent(double x) {
  return 1 / std::tanh(x);
}

Value acoth(Arguments& a) {
  const double x = a.number(0);
  return std::abs(x) > 1 ? finite(arc_hyperbolic_cotangent(x)) : Value(ErrorCode::number);
}
Value coth(Arguments& a) {
  const double x = a.number(0);
  if (x == 0) return ErrorCode::division;
  return finite(hyperbolic_cotangent(x));
}

Value atan2(Arguments& a) {
  const double x = a.number(0), y = a.number(1);
  if (x == 0 && y == 0) return ErrorCode::division;
  return std::atan2(y, x);
}

Value pi(Arguments&) {
  return std::numbers::pi;
}
Value radians(Arguments& a) {
  return finite(a.number(0) / 180 * std::numbers::pi);
}
Value degrees(Arguments& a) {
  return finite(a.number(0) * 180 / std::numbers::pi);
}

constexpr Function kFunctions[] = {
    {"SIN", "number", "The sine of an angle in radians.", of_angle<std::sin>},
    {"COS", "number", "The cosine of an angle in radians.", of_angle<std::cos>},
    {"TAN", "number", "The tangent of an angle in radians.", of_angle<std::tan>},
    {"COT", "number", "The cotangent of an angle in radians.", reciprocal_of_angle<std::tan>},
    {"SEC", "number", "The secant of an angle in radians.", reciprocal_of_angle<std::cos>},
    {"CSC", "number", "The cosecant of an angle in radians.", reciprocal_of_angle<std::sin>},
    {"ASIN", "number", "The angle whose sine it is.", of_number<std::asin>},
    {"ACOS", "number", "The angle whose cosine it is.", of_number<std::acos>},
    {"ATAN", "number", "The angle whose tangent it is.", of_number<std::atan>},
    {"ATAN2", "x, y", "The angle of the point (x, y).", atan2},
    {"ACOT", "number", "The angle whose cotangent it is, between 0 and pi.", of_number<arc_cotangent>},
    {"SINH", "number", "The hyperbolic sine.", of_number<std::sinh>},
    {"COSH", "number", "The hyperbolic cosine.", of_number<std::cosh>},
    {"TANH", "number", "The hyperbolic tangent.", of_number<std::tanh>},
    {"COTH", "number", "The hyperbolic cotangent.", coth},
    {"SECH", "number", "The hyperbolic secant.", reciprocal<std::cosh>},
    {"CSCH", "number", "The hyperbolic cosecant.", reciprocal<std::sinh>},
    {"ASINH", "number", "The inverse hyperbolic sine.", of_number<std::asinh>},
    {"ACOSH", "number", "The inverse hyperbolic cosine.", of_number<std::acosh>},
    {"ATANH", "number", "The inverse hyperbolic tangent.", of_number<std::atanh>},
    {"ACOTH", "number", "The inverse hyperbolic cotangent.", acoth},
    {"PI", "", "The number pi.", pi},
    {"RADIANS", "angle", "Degrees as radians.", radians},
    {"DEGREES", "angle", "Radians as degrees.", degrees},
};

}  // namespace

std::span<const Function> trigonometry_functions() {
  return kFunctions;
}

}  // namespace glmhost::formula
