// A serial through a section of dates and times.
#include <array>
#include <cmath>

#include "excel-addin/formula/calendar.h"
#include "excel-addin/formula/number_format.h"

namespace glmhost::formula {
namespace {

using Kind = FormatToken::Kind;

constexpr std::array<std::string_view, 12> kMonths = {"January",   "February", "March",    "April",
                                                      "May",       "June",     "July",     "August",
                                                      "September", "October",  "November", "December"};
constexpr std::array<std::string_view, 7> kWeekdays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                       "Thursday", "Friday", "Saturday"};

std::string padded(std::int64_t number, std::size_t digits) {
  std::string text = std::to_string(number);
  if (text.size() < digits) text.insert(0, digits - text.size(), '0');
  return text;
}

std::string name(std::string_view full, int count) {
  return std::string(count == 3 ? full.substr(0, 3) : full);
}

struct Moment {
  Date date;
  int weekday;  // 0 is Sunday
  std::int64_t hour, minute, second;
  std::int64_t fraction;  // of a second, in the format's digits
};

std::string date_token(const FormatToken& token, const Moment& moment, bool twelve_hours) {
  const std::size_t two = token.count >= 2 ? 2 : 1;
  switch (token.sign) {
    case 'y':
      return token.count <= 2 ? padded(moment.date.year % 100, 2) : padded(moment.date.year, 4);
    case 'm': {
      const std::string_view month = kMonths[static_cast<std::size_t>(moment.date.month) - 1];
      if (token.count == 5) return std::string(month.substr(0, 1));
      return token.count >= 3 ? name(month, token.count) : padded(moment.date.month, two);
    }
    case 'd':
      if (token.count >= 3) return name(kWeekdays[static_cast<std::size_t>(moment.weekday)], token.count);
      return padded(moment.date.day, two);
    case 'h': {
      const std::int64_t hour = twelve_hours ? (moment.hour + 11) % 12 + 1 : moment.hour;
      return padded(hour, two);
    }
    case 'n':
      return padded(moment.minute, two);
    case 's':
      return padded(moment.second, two);
    default: {  // AM/PM and A/P, in the case in which the format has them
      const bool morning = moment.hour < 12;
      if (token.sign == 'A') return morning ? "AM" : "PM";
      return token.text.substr(morning ? 0 : 2, 1);
    }
  }
}

}  // namespace

std::optional<std::string> format_date(const FormatSection& section, double serial) {
  int fraction_digits = 0;
  bool twelve_hours = false, has_elapsed = false, has_calendar = false;
  for (const FormatToken& token : section.tokens) {
    if (token.kind == Kind::second_fraction) fraction_digits = std::min(token.count, 3);
    if (token.kind == Kind::date && (token.sign == 'A' || token.sign == 'a')) twelve_hours = true;
    if (token.kind == Kind::elapsed) has_elapsed = true;
    if (token.kind == Kind::date) has_calendar = true;
  }
  const bool negative = serial < 0;
  // Only a lone [h], [m] or [s] can count backwards.
  if (negative && (!has_elapsed || has_calendar)) return std::nullopt;
  serial = std::abs(serial);
  if (serial >= kLastSerial + 1) return std::nullopt;

  const auto unit = static_cast<std::int64_t>(std::pow(10, fraction_digits));
  const auto ticks = static_cast<std::int64_t>(std::floor(serial * 86400 * static_cast<double>(unit) + 0.5));
  const std::int64_t seconds = ticks / unit;
  const std::int64_t day = seconds / 86400;
  if (static_cast<double>(day) > kLastSerial) return std::nullopt;
  const Moment moment{date_of(day),      weekday_of(day) - 1, seconds / 3600 % 24,
                      seconds / 60 % 60, seconds % 60,        ticks % unit};

  std::string text = negative && ticks != 0 ? "-" : "";
  for (const FormatToken& token : section.tokens) {
    switch (token.kind) {
      case Kind::date:
        text += date_token(token, moment, twelve_hours);
        break;
      case Kind::elapsed: {
        const std::int64_t elapsed = token.sign == 'h' ? seconds / 3600 : token.sign == 'm' ? seconds / 60 : seconds;
        text += padded(elapsed, static_cast<std::size_t>(token.count));
        break;
      }
      case Kind::second_fraction: {
        std::string digits = padded(moment.fraction, static_cast<std::size_t>(fraction_digits));
        digits.resize(static_cast<std::size_t>(token.count), '0');
        text += "." + digits;
        break;
      }
      case Kind::point:
        text += '.';
        break;
      case Kind::slash:
        text += '/';
        break;
      default:
        text += token.text;
    }
  }
  return text;
}

}  // namespace glmhost::formula
