// Excel's conversions between types, and its order of values.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "excel-addin/formula/value.h"

namespace glmhost::formula {

// A value of one type, or the error that stands for it.
template <class T>
class Result {
 public:
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  Result(ErrorCode error) : content_(std::in_place_index<1>, error) {}
  explicit operator bool() const { return content_.index() == 0; }
  const T& operator*() const { return std::get<0>(content_); }
  const T* operator->() const { return &std::get<0>(content_); }
  ErrorCode error() const { return std::get<1>(content_); }

 private:
  std::variant<T, ErrorCode> content_;
};

// Each takes an array's upper left cell for the array.
Result<double> to_number(const Value& value);     // "12" is 12, TRUE is 1, empty is 0, "x" is #VALUE!
Result<std::string> to_text(const Value& value);  // 1.5 is "1.5", TRUE is "TRUE", empty is ""
Result<bool> to_boolean(const Value& value);      // 0 is FALSE, "true" is TRUE, "1" is #VALUE!

// to_number, with the kind of the date or time that a text names.
Value to_number_value(const Value& value);

// < 0, 0, > 0 as a sorts before, with, or after b: numbers before text before booleans, text without case, and an empty
// cell as the 0, "" or FALSE of the other's type. Numbers are equal when their first 15 digits are. Neither is an error
// or an array.
int compare_values(const Value& a, const Value& b);

bool equal_numbers(double a, double b);

// Equal in type, and text in case too.
bool exactly_equal(const Value& a, const Value& b);

}  // namespace glmhost::formula
