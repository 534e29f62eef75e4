#include "excel-addin/formula/calendar.h"

#include <algorithm>
#include <cmath>

namespace glmhost::formula {
namespace {

constexpr std::int64_t kFalseLeapDay = 60;

// Days from 0000-03-01 of the proleptic Gregorian calendar: years begin in March so that the leap day comes last.
std::int64_t days_from_march(std::int64_t year, int month, std::int64_t day) {
  const std::int64_t y = month <= 2 ? year - 1 : year;
  const std::int64_t m = (month + 9) % 12;
  return 365 * y + y / 4 - y / 100 + y / 400 + (m * 306 + 5) / 10 + day - 1;
}

const std::int64_t kSerialZero = days_from_march(1899, 12, 31);

Date from_march_days(std::int64_t days) {
  const std::int64_t era = days / 146097;
  const std::int64_t in_era = days % 146097;
  const std::int64_t year_of_era = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
  const std::int64_t day_of_year = in_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t shifted = (5 * day_of_year + 2) / 153;
  const int day = static_cast<int>(day_of_year - (153 * shifted + 2) / 5 + 1);
  const int month = static_cast<int>(shifted < 10 ? shifted + 3 : shifted - 9);
  return {era * 400 + year_of_era + (month <= 2 ? 1 : 0), month, day};
}

}  // namespace

bool is_leap_year(std::int64_t year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int days_in_month(std::int64_t year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap_year(year) ? 29 : kDays[month - 1];
}

Date date_of(std::int64_t serial) {
  if (serial == 0) return {1900, 1, 0};
  if (serial == kFalseLeapDay) return {1900, 2, 29};
  return from_march_days(kSerialZero + serial - (serial > kFalseLeapDay ? 1 : 0));
}

std::optional<std::int64_t> serial_of(const Date& date) {
  if (date.year < 1900 || date.year > 9999) return std::nullopt;
  if (date == Date{1900, 2, 29}) return kFalseLeapDay;
  const std::int64_t days = day_number(date) - kSerialZero;
  return days >= kFalseLeapDay ? days + 1 : days;
}

std::int64_t day_number(const Date& date) {
  return days_from_march(date.year, date.month, date.day);
}

std::optional<std::int64_t> serial_of_overflowing(std::int64_t year, std::int64_t month, std::int64_t day) {
  constexpr std::int64_t kFar = 100'000'000;
  if (std::abs(year) > kFar || std::abs(month) > kFar || std::abs(day) > kFar) return std::nullopt;
  const std::int64_t months = year * 12 + month - 1;
  const std::int64_t real_year = months >= 0 ? months / 12 : -((11 - months) / 12);
  if (real_year < 1899 || real_year > 10'000) return std::nullopt;
  const int real_month = static_cast<int>(months - real_year * 12) + 1;
  std::int64_t serial = days_from_march(real_year, real_month, 1) - kSerialZero;
  if (serial >= kFalseLeapDay) ++serial;
  serial += day - 1;
  if (serial < 0 || serial > static_cast<std::int64_t>(kLastSerial)) return std::nullopt;
  return serial;
}

int weekday_of(std::int64_t serial) {
  return static_cast<int>((serial + 6) % 7) + 1;
}

Time time_of(double serial) {
  const double fraction = serial - std::floor(serial);
  const auto seconds = static_cast<std::int64_t>(std::floor(fraction * 86400 + 0.5)) % 86400;
  return {static_cast<int>(seconds / 3600), static_cast<int>(seconds / 60 % 60), static_cast<int>(seconds % 60)};
}

Date months_on(const Date& date, std::int64_t months) {
  const std::int64_t total = date.year * 12 + date.month - 1 + months;
  const std::int64_t year = total >= 0 ? total / 12 : -((11 - total) / 12);
  const int month = static_cast<int>(total - year * 12) + 1;
  return {year, month, std::min(date.day, days_in_month(year, month))};
}

}  // namespace glmhost::formula
