#include "excel-addin/formula/number_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace glmhost::formula {
namespace {

constexpr int kSignificant = 15;        // Excel's digits
constexpr int kMostFixedExponent = 20;  // 100000000000000000000, then 1E+21
constexpr int kMostDecimals = 19;       // 0.0000692442674613868, but 1.28233995888454E-06

void drop_trailing_zeros(std::string& digits) {
  const std::size_t last = digits.find_last_not_of('0');
  digits.erase(last == std::string::npos ? 1 : last + 1);
}

std::string fixed(const Decimal& decimal) {
  const int count = static_cast<int>(decimal.digits.size());
  if (decimal.exponent < 0)
    return "0." + std::string(static_cast<std::size_t>(-decimal.exponent - 1), '0') + decimal.digits;
  if (decimal.exponent + 1 >= count) {
    return decimal.digits + std::string(static_cast<std::size_t>(decimal.exponent + 1 - count), '0');
  }
  const auto whole = static_cast<std::size_t>(decimal.exponent + 1);
  return decimal.digits.substr(0, whole) + "." + decimal.digits.substr(whole);
}

std::string scientific(const Decimal& decimal) {
  std::array<char, 16> power{};
  std::snprintf(power.data(), power.size(), "E%c%02d", decimal.exponent < 0 ? '-' : '+', std::abs(decimal.exponent));
  const std::string fraction = decimal.digits.substr(1);
  return decimal.digits.substr(0, 1) + (fraction.empty() ? "" : "." + fraction) + power.data();
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view without_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::string_view take_digits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

std::optional<double> parsed(const std::string& number) {
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (end != number.data() + number.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range)
    return number.find("e-") != std::string::npos ? std::optional(0.0) : std::nullopt;
  if (error != std::errc()) return std::nullopt;
  // Excel keeps 15 digits of what is typed.
  if (std::ranges::count_if(number, is_digit) > kSignificant && value != 0) {
    const Decimal decimal = to_decimal(std::abs(value), kSignificant);
    double rounded = 0;
    const std::string cut =
        decimal.digits + "e" + std::to_string(decimal.exponent - static_cast<int>(decimal.digits.size()) + 1);
    std::from_chars(cut.data(), cut.data() + cut.size(), rounded);
    value = value < 0 ? -rounded : rounded;
  }
  return value;
}

// "1,234": the digits, if each comma has three digits behind it.
std::optional<std::string> take_grouped_digits(std::string_view& text) {
  std::string digits(take_digits(text));
  while (!digits.empty() && text.size() >= 4 && text[0] == ',') {
    std::string_view rest = text.substr(1);
    const std::string_view group = take_digits(rest);
    if (group.size() != 3) return std::nullopt;
    digits += group;
    text = rest;
  }
  return digits;
}

// "1 1/2", behind the whole part.
std::optional<double> fraction_behind(std::string_view text, double whole) {
  text.remove_prefix(text.find_first_not_of(' '));
  const std::string above(take_digits(text));
  if (above.empty() || !text.starts_with('/')) return std::nullopt;
  text.remove_prefix(1);
  const std::string below(take_digits(text));
  if (below.empty() || !text.empty() || above.size() > 5 || below.size() > 5) return std::nullopt;
  const double divisor = std::stod(below);
  if (divisor == 0) return std::nullopt;
  return whole + std::stod(above) / divisor;
}

std::optional<double> unsigned_number(std::string_view text) {
  const auto whole = take_grouped_digits(text);
  if (!whole) return std::nullopt;
  std::string number = *whole;
  if (text.starts_with(' ') && !number.empty()) return fraction_behind(text, std::stod(number));
  bool any = !number.empty();
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const std::string_view fraction = take_digits(text);
    any = any || !fraction.empty();
    if (number.empty()) number = "0";
    if (!fraction.empty()) number.append(".").append(fraction);
  }
  if (!any) return std::nullopt;
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    number += 'e';
    if (text.starts_with('-')) number += '-';
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    const std::string_view power = take_digits(text);
    if (power.empty()) return std::nullopt;
    number += power;
  }
  if (!text.empty()) return std::nullopt;
  return parsed(number);
}

}  // namespace

Decimal to_decimal(double number, int digits) {
  std::array<char, 64> text{};
  const int count = std::clamp(digits, 1, 40);
  std::snprintf(text.data(), text.size(), "%.*e", count - 1, number);
  const std::string_view printed(text.data());
  const std::size_t power = printed.find('e');
  Decimal decimal;
  decimal.digits = std::string(1, printed[0]);
  if (power > 2) decimal.digits += printed.substr(2, power - 2);
  std::string_view exponent = printed.substr(power + 1);
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), decimal.exponent);
  drop_trailing_zeros(decimal.digits);
  return decimal;
}

std::string number_to_text(double number) {
  if (number == 0 || !std::isfinite(number)) return "0";
  const Decimal decimal = to_decimal(std::abs(number), kSignificant);
  const int decimals = static_cast<int>(decimal.digits.size()) - 1 - decimal.exponent;
  const bool is_fixed = decimal.exponent <= kMostFixedExponent && decimals <= kMostDecimals;
  return (number < 0 ? "-" : "") + (is_fixed ? fixed(decimal) : scientific(decimal));
}

std::string general_format(double number) {
  constexpr int kPlaces = 11;
  if (number == 0 || !std::isfinite(number)) return "0";
  const std::string sign = number < 0 ? "-" : "";
  const double magnitude = std::abs(number);
  const Decimal decimal = to_decimal(magnitude, kSignificant);
  const int decimals = static_cast<int>(decimal.digits.size()) - 1 - decimal.exponent;
  if (decimal.exponent >= kPlaces || decimal.exponent < -4) {
    const bool fits = decimal.exponent < 0 && decimals <= kPlaces - 2;
    return sign + (fits ? fixed(decimal) : scientific(to_decimal(magnitude, 6)));
  }
  // The point takes a place, and so does the 0 before it.
  const int significant = decimal.exponent == kPlaces - 1 ? kPlaces : kPlaces - 1 + std::min(decimal.exponent, 0);
  return sign + fixed(to_decimal(magnitude, significant));
}

std::optional<double> plain_text_to_number(std::string_view text) {
  text = without_blanks(text);
  bool negative = false, percent = false;
  if (text.size() > 2 && text.front() == '(' && text.back() == ')') {
    negative = true;
    text = without_blanks(text.substr(1, text.size() - 2));
    if (text.starts_with('-') || text.starts_with('+')) return std::nullopt;
  }
  bool signed_once = negative, currency = false;
  while (!text.empty()) {
    if ((text[0] == '-' || text[0] == '+') && !signed_once) {
      negative = text[0] == '-';
      signed_once = true;
    } else if (text[0] == '$' && !currency) {
      currency = true;
    } else if (text[0] == '%' && !percent) {
      percent = true;
    } else {
      break;
    }
    text = without_blanks(text.substr(1));
  }
  if (text.ends_with('%') && !percent) {
    percent = true;
    text = without_blanks(text.substr(0, text.size() - 1));
  }
  const auto number = unsigned_number(text);
  if (!number) return std::nullopt;
  return (negative ? -*number : *number) / (percent ? 100 : 1);
}

std::optional<Value> text_to_number(std::string_view text) {
  if (const auto number = plain_text_to_number(text)) return Value(*number);
  return text_to_date(text);
}

}  // namespace glmhost::formula
