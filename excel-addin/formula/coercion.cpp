#include "excel-addin/formula/coercion.h"

#include <cmath>

#include "excel-addin/formula/number_text.h"
#include "excel-addin/formula/text_units.h"

namespace glmhost::formula {
namespace {

int sign_of(bool less, bool greater) {
  return less ? -1 : greater ? 1 : 0;
}

int compare_numbers(double a, double b) {
  return equal_numbers(a, b) ? 0 : sign_of(a<b, a> b);
}

// Numbers sort before text, text before booleans.
int rank(const Value& value) {
  return value.is_number() ? 0 : value.is_text() ? 1 : 2;
}

Value neutral_like(const Value& other) {
  if (other.is_text()) return Value("");
  if (other.is_boolean()) return Value(false);
  return Value(0);
}

}  // namespace

Value to_number_value(const Value& any) {
  const Value& value = any.scalar();
  switch (value.type()) {
    case Type::number:
    case Type::error:
      return value;
    case Type::boolean:
      return Value(value.boolean() ? 1.0 : 0.0);
    case Type::text:
      if (auto number = text_to_number(value.text())) return *number;
      return Value(ErrorCode::value);
    default:
      return Value(0.0);
  }
}

Result<double> to_number(const Value& any) {
  const Value& value = any.scalar();
  if (value.is_number()) return value.number();
  const Value number = to_number_value(value);
  if (number.is_error()) return number.error();
  return number.number();
}

Result<std::string> to_text(const Value& any) {
  const Value& value = any.scalar();
  switch (value.type()) {
    case Type::text:
      return value.text();
    case Type::number:
      return number_to_text(value.number());
    case Type::boolean:
      return std::string(value.boolean() ? "TRUE" : "FALSE");
    case Type::error:
      return value.error();
    default:
      return std::string();
  }
}

Result<bool> to_boolean(const Value& any) {
  const Value& value = any.scalar();
  switch (value.type()) {
    case Type::boolean:
      return value.boolean();
    case Type::number:
      return value.number() != 0;
    case Type::error:
      return value.error();
    case Type::text:
      if (equal_without_case(value.text(), "TRUE")) return true;
      if (equal_without_case(value.text(), "FALSE")) return false;
      return ErrorCode::value;
    default:
      return false;
  }
}

bool equal_numbers(double a, double b) {
  if (a == b) return true;
  constexpr double kNear = 1e-14;  // beyond that, 15 digits differ
  const double difference = std::abs(a - b);
  if (!(difference <= kNear * std::max(std::abs(a), std::abs(b))) || (a < 0) != (b < 0)) return false;
  const Decimal a_digits = to_decimal(std::abs(a), 15);
  const Decimal b_digits = to_decimal(std::abs(b), 15);
  return a_digits.exponent == b_digits.exponent && a_digits.digits == b_digits.digits;
}

int compare_values(const Value& a, const Value& b) {
  if (a.is_empty() && b.is_empty()) return 0;
  if (a.is_empty()) return compare_values(neutral_like(b), b);
  if (b.is_empty()) return compare_values(a, neutral_like(a));
  if (rank(a) != rank(b)) return rank(a) < rank(b) ? -1 : 1;
  if (a.is_number()) return compare_numbers(a.number(), b.number());
  if (a.is_text()) return compare_text(a.text(), b.text());
  return sign_of(a.boolean() < b.boolean(), a.boolean() > b.boolean());
}

bool exactly_equal(const Value& a, const Value& b) {
  if (a.type() != b.type()) return false;
  switch (a.type()) {
    case Type::number:
      return equal_numbers(a.number(), b.number());
    case Type::text:
      return a.text() == b.text();
    case Type::boolean:
      return a.boolean() == b.boolean();
    case Type::error:
      return a.error() == b.error();
    default:
      return a.is_empty();
  }
}

}  // namespace glmhost::formula
