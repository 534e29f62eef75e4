#include "excel-addin/formula/day_count.h"

#include <utility>

namespace glmhost::formula {
namespace {

bool is_end_of_february(const Date& date) {
  return date.month == 2 && date.day >= days_in_month(date.year, 2);
}

std::int64_t difference_360(const Date& start, const Date& end) {
  return (end.year - start.year) * 360 + (end.month - start.month) * 30 + (end.day - start.day);
}

// The mean length of the years that the two days touch; within one year, of the one that holds a leap day.
double actual_year_length(const Date& start, const Date& end) {
  const bool within_a_year =
      start.year == end.year ||
      (end.year == start.year + 1 && (start.month > end.month || (start.month == end.month && start.day >= end.day)));
  if (!within_a_year) {
    const auto days = day_number({end.year + 1, 1, 1}) - day_number({start.year, 1, 1});
    return static_cast<double>(days) / static_cast<double>(end.year - start.year + 1);
  }
  if (start.year == end.year) return is_leap_year(start.year) ? 366 : 365;
  const bool leap_day_behind_start = is_leap_year(start.year) && start.month <= 2;
  const bool leap_day_before_end = is_leap_year(end.year) && (end.month > 2 || (end.month == 2 && end.day == 29));
  return leap_day_behind_start || leap_day_before_end ? 366 : 365;
}

}  // namespace

std::int64_t days_360(Date start, Date end, bool us) {
  if (us) {
    if (is_end_of_february(start)) {
      if (is_end_of_february(end)) end.day = 30;
      start.day = 30;
    }
    if (end.day == 31 && start.day >= 30) end.day = 30;
  } else if (end.day == 31) {
    end.day = 30;
  }
  if (start.day == 31) start.day = 30;
  return difference_360(start, end);
}

std::int64_t days_360_rolling(Date start, Date end) {
  if (start.day == 31 || is_end_of_february(start)) start.day = 30;
  if (end.day == 31) {
    if (start.day < 30) {
      end = end.month == 12 ? Date{end.year + 1, 1, 1} : Date{end.year, end.month + 1, 1};
    } else {
      end.day = 30;
    }
  }
  return difference_360(start, end);
}

double year_fraction(std::int64_t start, std::int64_t end, Basis basis) {
  if (start > end) std::swap(start, end);
  const Date first = date_of(start), last = date_of(end);
  const auto days = static_cast<double>(end - start);
  switch (basis) {
    case Basis::us_30_360:
      return static_cast<double>(days_360(first, last, true)) / 360;
    case Basis::european_30_360:
      return static_cast<double>(days_360(first, last, false)) / 360;
    case Basis::actual_360:
      return days / 360;
    case Basis::actual_365:
      return days / 365;
    default:
      return days / actual_year_length(first, last);
  }
}

}  // namespace glmhost::formula
