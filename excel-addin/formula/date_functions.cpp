#include <algorithm>
#include <cmath>
#include <ctime>
#include <mutex>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/calendar.h"
#include "excel-addin/formula/day_count.h"
#include "excel-addin/formula/families.h"
#include "excel-addin/formula/number_text.h"
#include "excel-addin/formula/text_units.h"

namespace glmhost::formula {
namespace {

std::int64_t day(Arguments& a, std::size_t i) {
  return static_cast<std::int64_t>(a.serial(i));
}

Value dated(std::int64_t serial, NumberKind kind = NumberKind::date) {
  if (serial < 0 || serial > static_cast<std::int64_t>(kLastSerial)) return ErrorCode::number;
  return Value(static_cast<double>(serial), kind);
}

double now(Arguments& a) {
  if (a.context().now) return a.context().now();
  static std::mutex mutex;  // std::localtime() has one result for all threads
  const std::lock_guard lock(mutex);
  const std::time_t seconds = std::time(nullptr);
  const std::tm* local = std::localtime(&seconds);
  if (local == nullptr) return 0;
  const auto serial = serial_of({local->tm_year + 1900, local->tm_mon + 1, local->tm_mday});
  return static_cast<double>(serial.value_or(0)) +
         (local->tm_hour * 3600 + local->tm_min * 60 + std::min(local->tm_sec, 59)) / 86400.0;
}

Value now_(Arguments& a) {
  return Value(now(a), NumberKind::date_time);
}
Value today(Arguments& a) {
  return Value(std::floor(now(a)), NumberKind::date);
}

Value date(Arguments& a) {
  double year = std::floor(a.number(0));
  const double month = std::floor(a.number(1)), day_of_month = std::floor(a.number(2));
  constexpr double kFar = 1e7;
  if (year < 0 || year >= 10'000 || std::abs(month) > kFar || std::abs(day_of_month) > kFar) return ErrorCode::number;
  if (year < 1900) year += 1900;
  const auto serial = serial_of_overflowing(static_cast<std::int64_t>(year), static_cast<std::int64_t>(month),
                                            static_cast<std::int64_t>(day_of_month));
  return serial ? dated(*serial) : Value(ErrorCode::number);
}

Value time(Arguments& a) {
  const double hours = a.whole(0), minutes = a.whole(1), seconds = a.whole(2);
  constexpr double kMost = 32'767;
  if (hours > kMost || minutes > kMost || seconds > kMost) return ErrorCode::number;
  const double total = hours * 3600 + minutes * 60 + seconds;
  if (total < 0) return ErrorCode::number;
  return Value(std::fmod(total, 86400) / 86400, NumberKind::time);
}

Value year(Arguments& a) {
  return static_cast<double>(date_of(day(a, 0)).year);
}
Value month(Arguments& a) {
  return date_of(day(a, 0)).month;
}
Value day_(Arguments& a) {
  return date_of(day(a, 0)).day;
}

Time clock_time(Arguments& a) {
  const double serial = a.number(0);
  if (serial < 0 || serial >= kLastSerial + 1) {
    a.fail(ErrorCode::number);
    return {};
  }
  return time_of(serial);
}
Value hour(Arguments& a) {
  return clock_time(a).hour;
}
Value minute(Arguments& a) {
  return clock_time(a).minute;
}
Value second(Arguments& a) {
  return clock_time(a).second;
}

// Text alone names a date here; a number is #VALUE!.
std::optional<double> date_in_text(Arguments& a) {
  const Value& value = a[0].scalar();
  if (value.is_error()) a.fail(value.error());
  if (!value.is_text()) return std::nullopt;
  const auto serial = text_to_date(value.text());
  return serial ? std::optional(serial->number()) : std::nullopt;
}
Value datevalue(Arguments& a) {
  const auto serial = date_in_text(a);
  return serial ? Value(std::floor(*serial), NumberKind::date) : Value(ErrorCode::value);
}
Value timevalue(Arguments& a) {
  const auto serial = date_in_text(a);
  return serial ? Value(*serial - std::floor(*serial), NumberKind::time) : Value(ErrorCode::value);
}

Value days(Arguments& a) {
  const std::int64_t end = day(a, 0), start = day(a, 1);
  return static_cast<double>(end - start);
}

Value days360(Arguments& a) {
  const Date start = date_of(day(a, 0)), end = date_of(day(a, 1));
  const bool european = a.given(2) && a.boolean(2);
  return static_cast<double>(european ? days_360(start, end, false) : days_360_rolling(start, end));
}

Value yearfrac(Arguments& a) {
  const double basis = a.given(2) ? a.whole(2) : 0;
  const std::int64_t start = day(a, 0), end = day(a, 1);
  if (basis < 0 || basis > 4) return ErrorCode::number;
  return year_fraction(start, end, static_cast<Basis>(static_cast<int>(basis)));
}

std::optional<std::int64_t> shifted_month(Arguments& a, bool to_the_end) {
  const std::int64_t start = day(a, 0);
  const double months = a.whole(1);
  constexpr double kFar = 120'000;
  if (a.error() || std::abs(months) > kFar) return std::nullopt;
  Date date = months_on(date_of(start), static_cast<std::int64_t>(months));
  if (to_the_end) date.day = days_in_month(date.year, date.month);
  return serial_of(date);
}
Value edate(Arguments& a) {
  const auto serial = shifted_month(a, false);
  return serial ? dated(*serial) : Value(ErrorCode::number);
}
Value eomonth(Arguments& a) {
  const auto serial = shifted_month(a, true);
  return serial ? dated(*serial) : Value(ErrorCode::number);
}

Value weekday(Arguments& a) {
  const std::int64_t serial = day(a, 0);
  const double type = a.whole(1, 1);
  const int sunday_first = weekday_of(serial);
  if (type == 1) return sunday_first;
  if (type == 2) return (sunday_first + 5) % 7 + 1;
  if (type == 3) return (sunday_first + 5) % 7;
  if (type >= 11 && type <= 17) return (sunday_first + 5 - (static_cast<int>(type) - 11) + 7) % 7 + 1;
  return ErrorCode::number;
}

// The week that holds the year's first Thursday is the first.
int iso_week(std::int64_t serial) {
  const std::int64_t thursday = serial - (weekday_of(serial) + 5) % 7 + 3;
  if (thursday < 1) return 52;
  const Date date = date_of(thursday);
  const std::int64_t new_year = serial_of({date.year, 1, 1}).value_or(1);
  return static_cast<int>((thursday - new_year) / 7) + 1;
}

Value isoweeknum(Arguments& a) {
  return iso_week(day(a, 0));
}

Value weeknum(Arguments& a) {
  const std::int64_t serial = day(a, 0);
  const double type = a.whole(1, 1);
  if (type == 21) return iso_week(serial);
  int first_day = 0;  // 0 is Sunday
  if (type == 2)
    first_day = 1;
  else if (type >= 11 && type <= 17)
    first_day = static_cast<int>(type - 10) % 7;
  else if (type != 1)
    return a.fail(ErrorCode::number);
  const std::int64_t new_year = serial_of({date_of(serial).year, 1, 1}).value_or(1);
  const int offset = (weekday_of(new_year) - 1 - first_day + 7) % 7;
  // Serial 0 is a day before the first week, where weeks begin on Sunday.
  return serial - new_year + offset < 0 ? 0.0 : static_cast<double>((serial - new_year + offset) / 7 + 1);
}

// Whole months from start to end.
std::int64_t months_between(const Date& start, const Date& end) {
  return (end.year - start.year) * 12 + end.month - start.month - (end.day < start.day ? 1 : 0);
}

Value datedif(Arguments& a) {
  const std::int64_t first = day(a, 0), last = day(a, 1);
  const std::string unit = upper(a.text(2));
  if (a.error()) return *a.error();
  if (first > last) return ErrorCode::number;
  const Date start = date_of(first), end = date_of(last);
  const std::int64_t months = months_between(start, end);
  if (unit == "D") return static_cast<double>(last - first);
  if (unit == "M") return static_cast<double>(months);
  if (unit == "Y") return static_cast<double>(months / 12);
  if (unit == "YM") return static_cast<double>(months % 12);
  if (unit == "MD") {
    if (end.day >= start.day) return end.day - start.day;
    const Date before = months_on({end.year, end.month, 1}, -1);
    return days_in_month(before.year, before.month) - start.day + end.day;
  }
  if (unit == "YD") {
    // The start in the end's year, or in the year before.
    const bool before = std::pair(start.month, start.day) <= std::pair(end.month, end.day);
    const auto moved = serial_of_overflowing(end.year - (before ? 0 : 1), start.month, start.day);
    return static_cast<double>(last - moved.value_or(first));
  }
  return ErrorCode::value;
}

constexpr Trait kStrict = Trait::refuses_booleans;
constexpr Function kFunctions[] = {
    {"NOW", "", "Date and time of this moment.", now_, Trait::is_volatile},
    {"TODAY", "", "The date of today.", today, Trait::is_volatile},
    {"DATE", "year, month, day", "A date.", date},
    {"TIME", "hour, minute, second", "A time of day.", time},
    {"YEAR", "date", "The year of a date.", year},
    {"MONTH", "date", "The month of a date.", month},
    {"DAY", "date", "The day of the month.", day_},
    {"HOUR", "time", "The hour of a time.", hour},
    {"MINUTE", "time", "The minute of a time.", minute},
    {"SECOND", "time", "The second of a time.", second},
    {"DATEVALUE", "text", "The date that a text names.", datevalue},
    {"TIMEVALUE", "text", "The time that a text names.", timevalue},
    {"DAYS", "end_date, start_date", "Days between two dates.", days},
    {"DAYS360", "start_date, end_date, [european]", "Days between two dates in years of 360 days.", days360},
    {"YEARFRAC", "start_date, end_date, [basis]", "The part of a year between two dates.", yearfrac, kStrict},
    {"EDATE", "start_date, months", "The date some months on.", edate, kStrict},
    {"EOMONTH", "start_date, months", "The last day of the month some months on.", eomonth, kStrict},
    {"WEEKDAY", "date, [type]", "The day of the week.", weekday},
    {"WEEKNUM", "date, [type]", "The week of the year.", weeknum, kStrict},
    {"ISOWEEKNUM", "date", "The week of the year by ISO 8601.", isoweeknum},
    {"DATEDIF", "start_date, end_date, unit", "Time between two dates in units: Y, M, D, YM, YD, MD.", datedif},
};

}  // namespace

std::span<const Function> date_functions() {
  return kFunctions;
}

}  // namespace glmhost::formula
