#include "excel-addin/formula/operators.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/coercion.h"
#include "excel-addin/formula/text_units.h"

namespace glmhost::formula {
namespace {

NumberKind kind_of_sum(NumberKind left, NumberKind right) {
  if (left == NumberKind::plain) return right;
  if (right == NumberKind::plain || left == right) return left;
  return NumberKind::date_time;
}

NumberKind kind_of_difference(NumberKind left, NumberKind right) {
  if (right == NumberKind::plain) return left;
  if (left != right && right == NumberKind::time) return NumberKind::date_time;
  return NumberKind::plain;
}

Value power(double base, double exponent) {
  if (base == 0 && exponent == 0) return ErrorCode::number;
  if (base == 0 && exponent < 0) return ErrorCode::division;
  return finite(std::pow(base, exponent));
}

Value arithmetic(Operator op, const Value& left, const Value& right) {
  const Value a = to_number_value(left);
  if (a.is_error()) return a;
  const Value b = to_number_value(right);
  if (b.is_error()) return b;
  const double x = a.number(), y = b.number();
  switch (op) {
    case Operator::add:
      return finite(x + y, kind_of_sum(a.kind(), b.kind()));
    case Operator::subtract:
      return finite(x - y, kind_of_difference(a.kind(), b.kind()));
    case Operator::multiply:
      return finite(x * y);
    case Operator::divide:
      return y == 0 ? Value(ErrorCode::division) : finite(x / y);
    default:
      return power(x, y);
  }
}

Value concatenation(const Value& left, const Value& right) {
  const auto a = to_text(left);
  if (!a) return a.error();
  const auto b = to_text(right);
  if (!b) return b.error();
  return joined(*a, *b);
}

Value comparison(Operator op, const Value& left, const Value& right) {
  if (left.is_error()) return left;
  if (right.is_error()) return right;
  if (op == Operator::exactly_equal) return exactly_equal(left, right);
  if (op == Operator::not_exactly_equal) return !exactly_equal(left, right);
  const int order = compare_values(left, right);
  switch (op) {
    case Operator::equal:
      return order == 0;
    case Operator::not_equal:
      return order != 0;
    case Operator::less:
      return order < 0;
    case Operator::less_equal:
      return order <= 0;
    case Operator::greater:
      return order > 0;
    default:
      return order >= 0;
  }
}

Value logic(Operator op, const Value& left, const Value& right) {
  const auto a = to_boolean(left);
  if (!a) return a.error();
  const auto b = to_boolean(right);
  if (!b) return b.error();
  return op == Operator::logical_and ? (*a && *b) : (*a || *b);
}

Value membership(const Value& needle, const Value& list) {
  if (needle.is_error()) return needle;
  for (const Value& each : cells_of(list)) {
    if (each.is_error()) return each;
    if (compare_values(needle, each) == 0) return true;
  }
  return false;
}

Value scalar_unary(Operator op, const Value& operand) {
  if (op == Operator::plus) return operand.is_empty() ? Value(0) : operand;
  if (op == Operator::logical_not) {
    const auto boolean = to_boolean(operand);
    return boolean ? Value(!*boolean) : Value(boolean.error());
  }
  const auto number = to_number(operand);
  if (!number) return number.error();
  if (op == Operator::percent) return *number / 100;
  return *number == 0 ? 0.0 : -*number;
}

Value scalar_binary(Operator op, const Value& left, const Value& right) {
  switch (op) {
    case Operator::add:
    case Operator::subtract:
    case Operator::multiply:
    case Operator::divide:
    case Operator::power:
      return arithmetic(op, left, right);
    case Operator::concatenate:
      return concatenation(left, right);
    case Operator::logical_and:
    case Operator::logical_or:
      return logic(op, left, right);
    default:
      return comparison(op, left, right);
  }
}

}  // namespace

Value finite(double number, NumberKind kind) {
  if (!std::isfinite(number)) return ErrorCode::number;
  // Excel has no numbers between 0 and 2.2E-308.
  return Value(std::abs(number) < std::numeric_limits<double>::min() ? 0.0 : number, kind);
}

double snapped_to_zero(double result, double left, double right) {
  if (result == 0 || left == 0 || right == 0) return result;
  const int lost = std::ilogb(std::max(std::abs(left), std::abs(right))) - std::ilogb(result);
  return lost >= 50 ? 0 : result;
}

Value lifted(std::span<const Value> values, const std::function<bool(std::size_t)>& whole, std::size_t most_cells,
             const std::function<Value(std::span<const Value>)>& scalar) {
  std::size_t rows = 1, columns = 1;
  bool any = false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i].is_array() || whole(i)) continue;
    any = true;
    rows = std::max(rows, values[i].array().rows());
    columns = std::max(columns, values[i].array().columns());
  }
  if (!any) return scalar(values);
  std::vector<Value> row_values(values.begin(), values.end());
  if (rows == 1 && columns == 1) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!whole(i)) row_values[i] = Value(values[i].scalar());
    }
    return scalar(row_values);
  }
  if (rows > most_cells / columns) return ErrorCode::number;
  Array result(rows, columns);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      bool missing = false;
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (!values[i].is_array() || whole(i)) continue;
        const Array& array = values[i].array();
        const std::size_t r = array.rows() == 1 ? 0 : row;
        const std::size_t c = array.columns() == 1 ? 0 : column;
        missing = missing || r >= array.rows() || c >= array.columns();
        row_values[i] = missing ? Value() : array(r, c);
      }
      result(row, column) = missing ? Value(ErrorCode::not_available) : Value(scalar(row_values).scalar());
    }
  }
  return Value(std::move(result));
}

Value apply(Operator op, const Value& operand, std::size_t most_cells) {
  if (!operand.is_array()) return scalar_unary(op, operand);
  const auto nothing_whole = [](std::size_t) { return false; };
  return lifted({&operand, 1}, nothing_whole, most_cells,
                [&](std::span<const Value> values) { return scalar_unary(op, values[0]); });
}

Value apply(Operator op, const Value& left, const Value& right, std::size_t most_cells) {
  const bool is_in = op == Operator::is_in;
  if (!left.is_array() && (is_in || !right.is_array())) {
    return is_in ? membership(left, right) : scalar_binary(op, left, right);
  }
  const Value both[] = {left, right};
  return lifted(
      both, [&](std::size_t i) { return is_in && i == 1; }, most_cells,
      [&](std::span<const Value> values) {
        return is_in ? membership(values[0], values[1]) : scalar_binary(op, values[0], values[1]);
      });
}

}  // namespace glmhost::formula
