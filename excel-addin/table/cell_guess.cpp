#include "excel-addin/table/cell_guess.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "excel-addin/formula/calendar.h"
#include "excel-addin/formula/error_code.h"
#include "excel-addin/formula/text_units.h"

namespace glmhost::table {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

constexpr int kMostExactDigits = 15;  // what a spreadsheet keeps of a whole number

// 10^0 to 10^22 are exact as doubles, so one multiplication or division rounds once.
constexpr std::array<double, 23> kPowers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                            1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

Cell number_cell(double number, bool grouped = false) {
  return {CellClass::number, Tag::number, number, grouped};
}

// Takes thousands dividers out; nothing when they do not stand before groups of three.
std::optional<std::string> without_groups(std::string_view whole, char divider) {
  std::string digits;
  std::size_t run = 0;
  bool first = true;
  for (const char c : whole) {
    if (c == divider) {
      if (first ? run == 0 || run > 3 : run != 3) return std::nullopt;
      first = false;
      run = 0;
    } else if (is_digit(c)) {
      digits += c;
      ++run;
    } else {
      return std::nullopt;
    }
  }
  if (first || run != 3) return std::nullopt;
  return digits;
}

// Everything that the quick reading of guessed_cell() leaves: exponents, decimal commas, thousands.
Cell slow_number(std::string_view text, char decimal) {
  const char divider = decimal == '.' ? ',' : '.';
  std::string plain;
  bool grouped = false;
  std::string_view rest = text;
  if (rest.starts_with('-')) {
    plain = "-";
    rest.remove_prefix(1);
  }
  if (rest.empty() || (!is_digit(rest[0]) && rest[0] != decimal)) return {CellClass::text};
  const std::size_t whole_end = std::min(rest.find_first_not_of(std::string("0123456789") + divider), rest.size());
  std::string whole(rest.substr(0, whole_end));
  if (whole.find(divider) != std::string::npos) {
    const auto digits = without_groups(whole, divider);
    if (!digits) return {CellClass::text};
    whole = *digits;
    grouped = true;
  }
  rest.remove_prefix(whole_end);
  plain += whole;
  bool fraction = false;
  if (rest.starts_with(decimal)) {
    fraction = true;
    const std::size_t end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
    if (end == 1) return {CellClass::text};
    plain += "." + std::string(rest.substr(1, end - 1));
    rest.remove_prefix(end);
  }
  bool exponent = false, sign = false;
  if (!rest.empty() && (rest[0] == 'e' || rest[0] == 'E')) {
    std::string_view power = rest.substr(1);
    sign = power.starts_with('+') || power.starts_with('-');
    if (sign) power.remove_prefix(1);
    if (power.empty() || !std::all_of(power.begin(), power.end(), is_digit)) return {CellClass::text};
    exponent = true;
    plain += "e" + std::string(rest[1] == '-' ? "-" : "") + std::string(power);
    rest = {};
  }
  if (!rest.empty()) return {CellClass::text};
  const bool zero_first = whole.size() > 1 && whole[0] == '0';
  const bool too_long = whole.size() > kMostExactDigits && !exponent;
  // 1E5 is more often the name of a part than a hundred thousand; writers of numbers give a sign or a fraction.
  if (zero_first || too_long || (exponent && !sign && !fraction)) return {CellClass::identifier};
  double number = 0;
  if (whole.empty()) plain.insert(plain.starts_with('-') ? 1 : 0, "0");
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), number);
  if (error != std::errc() || !std::isfinite(number)) return {CellClass::identifier};
  return number_cell(number, grouped);
}

std::optional<int> digits_at(std::string_view text, std::size_t at, std::size_t count) {
  if (at + count > text.size()) return std::nullopt;
  int value = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    if (!is_digit(text[i])) return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

// 2026-01-31, 2026-01-31 12:30, 2026-01-31T12:30:15
Cell iso_date(std::string_view text) {
  const auto year = digits_at(text, 0, 4), month = digits_at(text, 5, 2), day = digits_at(text, 8, 2);
  if (!year || !month || !day || text[4] != '-' || text[7] != '-') return {CellClass::text};
  const auto serial = serial_of(*year, *month, *day);
  if (!serial) return {CellClass::text};
  if (text.size() == 10) return {CellClass::date, Tag::date, *serial};
  const auto hour = digits_at(text, 11, 2), minute = digits_at(text, 14, 2);
  if ((text[10] != ' ' && text[10] != 'T') || !hour || !minute || *hour > 23 || *minute > 59 || text[13] != ':')
    return {CellClass::text};
  int seconds = 0;
  if (text.size() != 16) {
    const auto second = digits_at(text, 17, 2);
    if (text.size() != 19 || text[16] != ':' || !second || *second > 59) return {CellClass::text};
    seconds = *second;
  }
  return {CellClass::date, Tag::date_time, *serial + (*hour * 3600 + *minute * 60 + seconds) / 86400.0};
}

}  // namespace

std::optional<double> serial_of(int year, int month, int day) {
  if (month < 1 || month > 12 || day < 1 || day > formula::days_in_month(year, month)) return std::nullopt;
  const auto serial = formula::serial_of({year, month, day});
  return serial ? std::optional(static_cast<double>(*serial)) : std::nullopt;
}

std::optional<SlashDate> slash_date(std::string_view text) {
  int parts[3] = {};
  std::size_t at = 0;
  char divider = 0;
  for (int part = 0; part < 3; ++part) {
    const std::size_t start = at;
    while (at < text.size() && is_digit(text[at]) && at - start < 4)
      parts[part] = parts[part] * 10 + (text[at++] - '0');
    const std::size_t length = at - start;
    if (part < 2 ? length < 1 || length > 2 : length != 4) return std::nullopt;
    if (part == 2) break;
    if (at >= text.size() || (text[at] != '/' && text[at] != '.' && text[at] != '-')) return std::nullopt;
    if (divider != 0 && text[at] != divider) return std::nullopt;
    divider = text[at++];
  }
  if (at != text.size()) return std::nullopt;
  return SlashDate{parts[0], parts[1], parts[2]};
}

bool has_decimal_comma(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('-')) text.remove_prefix(1);
  const auto comma = text.find(',');
  if (comma == std::string_view::npos || comma == 0 || comma + 1 == text.size()) return false;
  const std::string_view whole = text.substr(0, comma), behind = text.substr(comma + 1);
  if (!std::all_of(behind.begin(), behind.end(), is_digit)) return false;
  return std::all_of(whole.begin(), whole.end(), is_digit) || without_groups(whole, '.').has_value();
}

bool has_decimal_point(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('-')) text.remove_prefix(1);
  const auto point = text.find('.');
  if (point == std::string_view::npos || point == 0 || text.find('.', point + 1) != std::string_view::npos)
    return false;
  const std::string_view whole = text.substr(0, point), behind = text.substr(point + 1);
  return std::all_of(whole.begin(), whole.end(), is_digit) && !behind.empty() &&
         std::all_of(behind.begin(), behind.end(), is_digit) && (behind.size() != 3 || whole.size() > 3);
}

Cell guessed_cell(std::string_view text, char decimal) {
  if (text.empty()) return {};
  // Most cells of numbers: an optional sign, digits, perhaps a fraction.
  const char* at = text.data();
  const char* const end = at + text.size();
  const bool negative = *at == '-';
  at += negative;
  const char* const whole = at;
  std::uint64_t digits = 0;
  while (at < end && is_digit(*at)) digits = digits * 10 + static_cast<std::uint64_t>(*at++ - '0');
  const auto whole_length = at - whole;
  if (whole_length > 0 && whole_length <= kMostExactDigits && (whole_length == 1 || *whole != '0')) {
    std::ptrdiff_t fraction_length = 0;
    if (at < end && *at == decimal) {
      const char* const fraction = ++at;
      while (at < end && is_digit(*at)) digits = digits * 10 + static_cast<std::uint64_t>(*at++ - '0');
      fraction_length = at - fraction;
      if (fraction_length == 0) at = whole;  // "5." is no number that anybody writes back
    }
    constexpr std::uint64_t kMostExact = std::uint64_t{1} << 53;
    if (at == end && whole_length + fraction_length <= 19 && digits <= kMostExact) {
      const double number = static_cast<double>(digits) / kPowers[static_cast<std::size_t>(fraction_length)];
      return number_cell(negative && digits != 0 ? -number : number);
    }
  }
  const std::string_view inside = trimmed(text);
  if (inside.empty()) return {CellClass::text};
  const char first = inside[0];
  if (is_digit(first) || first == '-' || first == decimal) {
    if (inside.size() >= 10 && inside[4 < inside.size() ? 4 : 0] == '-' && is_digit(first)) {
      if (const Cell date = iso_date(inside); date.kind == CellClass::date) return date;
    }
    if (is_digit(first) && slash_date(inside)) return {CellClass::slash_date};
    return slow_number(inside, decimal);
  }
  if (first == '+' && inside.size() > 1 && is_digit(inside[1])) return {CellClass::identifier};
  if (first == '#') {
    if (const auto error = formula::error_named(inside)) {
      return {CellClass::error, Tag::error, static_cast<double>(*error)};
    }
  }
  if ((inside.size() == 4 || inside.size() == 5) && (first == 't' || first == 'T' || first == 'f' || first == 'F')) {
    const bool is_true = formula::equal_without_case(inside, "TRUE");
    if (is_true || formula::equal_without_case(inside, "FALSE"))
      return {CellClass::boolean, Tag::boolean, is_true ? 1.0 : 0.0};
  }
  return {CellClass::text};
}

}  // namespace glmhost::table
