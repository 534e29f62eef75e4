#include "excel-addin/formula/arguments.h"

#include <cmath>

#include "excel-addin/formula/calendar.h"

namespace glmhost::formula {

Value Arguments::fail(ErrorCode error) {
  if (!error_) error_ = error;
  return error;
}

double Arguments::number(std::size_t i, double fallback) {
  if (!has(i)) return fallback;
  const Value& value = values_[i].scalar();
  if (function_.has(Trait::refuses_booleans)) {
    if (value.is_boolean()) fail(ErrorCode::value);
    if (value.is_omitted()) fail(ErrorCode::not_available);
  }
  // Public suites let mathematics read these two words, in small letters, as 1 and 0; Excel refuses "TRUE".
  const bool is_mathematics = function_.family == Family::math || function_.family == Family::trigonometry;
  if (value.is_text() && is_mathematics && !function_.has(Trait::refuses_booleans)) {
    if (value.text() == "true") return 1;
    if (value.text() == "false") return 0;
  }
  const auto number = to_number(value);
  if (!number) fail(number.error());
  return number ? *number : 0;
}

double Arguments::whole(std::size_t i, double fallback) {
  return std::trunc(number(i, fallback));
}

std::string Arguments::text(std::size_t i, std::string fallback) {
  if (!has(i)) return fallback;
  const auto text = to_text(values_[i]);
  if (!text) fail(text.error());
  return text ? *text : std::string();
}

bool Arguments::boolean(std::size_t i, bool fallback) {
  if (!has(i)) return fallback;
  const auto boolean = to_boolean(values_[i]);
  if (!boolean) fail(boolean.error());
  return boolean ? *boolean : false;
}

double Arguments::serial(std::size_t i) {
  const double serial = std::floor(number(i));
  if (serial >= 0 && serial <= kLastSerial) return serial;
  fail(ErrorCode::number);
  return 0;
}

std::vector<double> numbers_in(Arguments& arguments, const Value& value, Pick pick) {
  if (!value.is_array()) {
    const auto number = to_number(value);
    if (!number) arguments.fail(number.error());
    return {number ? *number : 0};
  }
  std::vector<double> numbers;
  numbers.reserve(value.array().size());
  for (const Value& cell : value.array().cells()) {
    if (cell.is_number()) {
      numbers.push_back(cell.number());
    } else if (cell.is_error()) {
      arguments.fail(cell.error());
    } else if (pick == Pick::all && !cell.is_empty()) {
      numbers.push_back(cell.is_boolean() && cell.boolean() ? 1 : 0);
    }
  }
  return numbers;
}

std::vector<double> numbers_of(Arguments& arguments, std::size_t first, Pick pick) {
  std::vector<double> numbers;
  for (const Value& value : arguments.from(first)) {
    const auto more = numbers_in(arguments, value, pick);
    numbers.insert(numbers.end(), more.begin(), more.end());
  }
  return numbers;
}

void CompensatedSum::add(double x) {
  const double sum = sum_ + x;
  if (std::isfinite(sum)) lost_ += std::abs(sum_) >= std::abs(x) ? (sum_ - sum) + x : (x - sum) + sum_;
  sum_ = sum;
}

double sum_of(std::span<const double> numbers) {
  CompensatedSum sum;
  for (const double number : numbers) sum.add(number);
  return sum.value();
}

}  // namespace glmhost::formula
