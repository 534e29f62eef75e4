// Numbers as text, and text as numbers, the way Excel converts where an operator or a function meets the other type.
// The conventions are those of en-US.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "excel-addin/formula/value.h"

namespace glmhost::formula {

// The General format without the limit of a cell's width: up to 15 significant digits, 1E+21 from there on.
std::string number_to_text(double number);

// General as a format (TEXT, a cell): 11 characters at most.
std::string general_format(double number);

// `digits` significant decimal digits of a positive number, and the power of ten of the first: 1234.5 is ("12345", 3).
struct Decimal {
  std::string digits;
  int exponent;
};
Decimal to_decimal(double number, int digits);

// 1234.5, -1e3, 1,234, $5, 5%, (5), "1 1/2", dates, times: what a cell would take as a number when it is typed in.
std::optional<Value> text_to_number(std::string_view text);

// The same without dates and times.
std::optional<double> plain_text_to_number(std::string_view text);

// A date, a time or both; the value's kind says which.
std::optional<Value> text_to_date(std::string_view text);

}  // namespace glmhost::formula
