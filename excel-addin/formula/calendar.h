// Excel's serial days and the calendar behind them: the 1900 date system.
//
// Serial 1 is 1900-01-01; 60 is 1900-02-29, a day that Excel has and the calendar has not; 0 shows as 1900-01-00.
// The last is 9999-12-31, kLastSerial.
#pragma once

#include <cstdint>
#include <optional>

namespace glmhost::formula {

inline constexpr double kLastSerial = 2'958'465;

struct Date {
  std::int64_t year = 1900;
  int month = 1;  // 1 to 12
  int day = 1;    // 1 to 31; 0 for serial 0
  bool operator==(const Date&) const = default;
};

struct Time {
  int hour = 0, minute = 0, second = 0;  // rounded to the nearest second
};

bool is_leap_year(std::int64_t year);
int days_in_month(std::int64_t year, int month);

// Of whole serials from 0 to kLastSerial.
Date date_of(std::int64_t serial);

// The serial of a day of the calendar, or nothing outside of 1900 to 9999. 1900-02-29 is 60.
std::optional<std::int64_t> serial_of(const Date& date);

// Days since a fixed day of the true calendar, for spans of days that mind no serial.
std::int64_t day_number(const Date& date);

// The serial of a month and a day that may lie outside of their ranges, as DATE counts them on. Years are full.
std::optional<std::int64_t> serial_of_overflowing(std::int64_t year, std::int64_t month, std::int64_t day);

// 1 is Sunday, 7 Saturday. Excel's own weekdays, which before 1900-03-01 are a day off the calendar's.
int weekday_of(std::int64_t serial);

// The time of day of a serial.
Time time_of(double serial);

// Months on, the day cut to the length of the month reached.
Date months_on(const Date& date, std::int64_t months);

}  // namespace glmhost::formula
