// Texts to numbers and back.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/decimal_rounding.h"
#include "excel-addin/formula/families.h"
#include "excel-addin/formula/number_format.h"
#include "excel-addin/formula/number_text.h"
#include "excel-addin/formula/text_units.h"

namespace glmhost::formula {
namespace {

Value value(Arguments& a) {
  if (a[0].is_boolean()) return ErrorCode::value;
  return Value(a.number(0));
}

// NUMBERVALUE(text, decimal_separator, group_separator): blanks count nowhere, % any number of times at the end.
Value numbervalue(Arguments& a) {
  const auto first_unit = [&](std::size_t i, const char* fallback) {
    const std::u16string units = to_utf16(a.given(i) ? a.text(i) : fallback);
    if (units.empty()) a.fail(ErrorCode::value);
    return units.empty() ? u'.' : units[0];
  };
  if (a[0].is_boolean()) return a.fail(ErrorCode::value);
  std::u16string text = to_utf16(a.text(0));
  const char16_t point = first_unit(1, "."), group = first_unit(2, ",");
  if (point == group && a.given(2)) return a.fail(ErrorCode::value);
  std::erase_if(text, [](char16_t c) { return c == u' ' || c == u'\t' || c == u'\n' || c == u'\r' || c == 0xA0; });
  if (text.empty()) return 0.0;
  int percents = 0;
  bool negative = false;
  const auto strip = [&] {
    while (text.ends_with(u'%')) {
      text.pop_back();
      ++percents;
    }
  };
  strip();
  if (text.size() > 2 && text.front() == u'(' && text.back() == u')') {
    negative = true;
    text = text.substr(1, text.size() - 2);
    if (text.starts_with(u'-') || text.starts_with(u'+')) return ErrorCode::value;
    strip();
  }
  const std::size_t at = text.find(point);
  if (at != std::u16string::npos && group != point && text.find(group, at + 1) != std::u16string::npos)
    return ErrorCode::value;
  std::string plain;
  for (const char16_t c : text) {
    if (c == point)
      plain += '.';
    else if (c == group)
      continue;
    else if (c < 0x80)
      plain += static_cast<char>(c);
    else
      return ErrorCode::value;
  }
  if (plain.find_first_of("%,()$ /") != std::string::npos) return ErrorCode::value;
  const auto number = plain_text_to_number(plain);
  if (!number) return ErrorCode::value;
  return finite((negative ? -*number : *number) / std::pow(100, percents));
}

// Groups of three in front of the point.
std::string with_groups(const std::string& digits) {
  const std::size_t whole = std::min(digits.find('.'), digits.size());
  std::string result = digits;
  for (std::size_t i = whole; i > 3; i -= 3) result.insert(i - 3, ",");
  return result;
}

std::string fixed_digits(double magnitude, double decimals) {
  const auto places = static_cast<int>(std::max(decimals, 0.0));
  // 15 digits are known; zeros stand for the rest.
  const Decimal decimal = to_decimal(round_to_digits(magnitude, decimals, Rounding::half_away), 15);
  std::string digits = decimal.digits;
  int point = decimal.exponent + 1;
  if (magnitude == 0 || point < -400)
    return places == 0 ? "0" : "0." + std::string(static_cast<std::size_t>(places), '0');
  if (point <= 0) {
    digits.insert(0, static_cast<std::size_t>(1 - point), '0');
    point = 1;
  }
  const auto length = static_cast<std::size_t>(point + places);
  digits.resize(length, '0');
  if (places > 0) digits.insert(static_cast<std::size_t>(point), ".");
  return digits;
}

constexpr double kMostDecimals = 127;

Value fixed(Arguments& a) {
  const double number = a.number(0), decimals = a.has(1) ? a.whole(1) : 2;
  const bool no_groups = a.has(2) && a.boolean(2);
  if (decimals > kMostDecimals) return ErrorCode::value;
  const std::string digits = fixed_digits(std::abs(number), decimals);
  const bool negative = number < 0 && digits.find_first_of("123456789") != std::string::npos;
  return (negative ? "-" : "") + (no_groups ? digits : with_groups(digits));
}

Value dollar(Arguments& a) {
  const double number = a.number(0), decimals = a.has(1) ? a.whole(1) : 2;
  if (decimals > kMostDecimals) return ErrorCode::value;
  const std::string digits = fixed_digits(std::abs(number), decimals);
  const bool negative = number < 0 && digits.find_first_of("123456789") != std::string::npos;
  return (negative ? "-$" : "$") + with_groups(digits);
}

Value text(Arguments& a) {
  const std::string format = a.text(1);
  a.check(a[0]);
  if (a.error()) return *a.error();
  return formatted(a[0], format);
}

constexpr Function kFunctions[] = {
    {"VALUE", "text", "The number that a text names.", value},
    {"NUMBERVALUE", "text, [decimal_separator], [group_separator]", "The number that a text names in another country.",
     numbervalue},
    {"FIXED", "number, [decimals], [no_commas]", "A number as text with fixed decimals.", fixed},
    {"DOLLAR", "number, [decimals]", "A number as text, in dollars.", dollar},
    {"TEXT", "value, format", "A value as text, in a format.", text},
};

}  // namespace

std::span<const Function> text_conversion_functions() {
  return kFunctions;
}

}  // namespace glmhost::formula
