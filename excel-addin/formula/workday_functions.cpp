#include <cmath>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/calendar.h"
#include "excel-addin/formula/families.h"
#include "excel-addin/formula/workdays.h"

namespace glmhost::formula {
namespace {

std::int64_t day(Arguments& a, std::size_t i) {
  return static_cast<std::int64_t>(a.serial(i));
}

std::vector<std::int64_t> holidays(Arguments& a, std::size_t i) {
  std::vector<std::int64_t> days;
  if (!a.given(i)) return days;
  for (const Value& cell : cells_of(a[i])) {
    if (cell.is_empty()) continue;
    if (cell.is_boolean()) a.fail(ErrorCode::value);
    const auto number = to_number(cell);
    if (!number) a.fail(number.error());
    const double serial = number ? std::floor(*number) : 0;
    if (serial < 0 || serial > kLastSerial)
      a.fail(ErrorCode::number);
    else
      days.push_back(static_cast<std::int64_t>(serial));
  }
  return days;
}

// 1 (Saturday, Sunday) to 7, 11 (Sunday alone) to 17, or seven signs of which 1 is a free day, Monday first.
Workdays::Weekend weekend(Arguments& a, std::size_t i) {
  if (!a.given(i)) return Workdays::kSaturdaySunday;
  Workdays::Weekend free{};
  const Value& value = a[i].scalar();
  if (value.is_text()) {
    const std::string& signs = value.text();
    if (signs.size() != 7 || signs.find_first_not_of("01") != std::string::npos)
      a.fail(ErrorCode::value);
    else
      for (std::size_t k = 0; k < 7; ++k) free[k] = signs[k] == '1';
    return free;
  }
  const double number = a.whole(i);
  if (number >= 1 && number <= 7) {
    const auto first = static_cast<std::size_t>(number) + 4;  // 1: Saturday, the sixth day
    free[first % 7] = free[(first + 1) % 7] = true;
  } else if (number >= 11 && number <= 17) {
    free[(static_cast<std::size_t>(number) - 11 + 6) % 7] = true;  // 11: Sunday
  } else {
    a.fail(ErrorCode::number);
  }
  return free;
}

Value count_between(Arguments& a, const Workdays::Weekend& free, std::size_t holidays_at) {
  const std::int64_t first = day(a, 0), last = day(a, 1);
  const Workdays workdays(free, holidays(a, holidays_at));
  return a.error() ? Value(*a.error()) : Value(static_cast<double>(workdays.between(first, last)));
}

Value day_after(Arguments& a, const Workdays::Weekend& free, std::size_t holidays_at) {
  const std::int64_t start = day(a, 0);
  const double count = a.whole(1);
  const Workdays workdays(free, holidays(a, holidays_at));
  if (a.error()) return *a.error();
  if (workdays.none()) return ErrorCode::value;
  if (std::abs(count) > kLastSerial) return ErrorCode::number;
  const auto serial = workdays.after(start, static_cast<std::int64_t>(count));
  return serial ? Value(static_cast<double>(*serial), NumberKind::date) : Value(ErrorCode::number);
}

Value networkdays(Arguments& a) {
  return count_between(a, Workdays::kSaturdaySunday, 2);
}
Value networkdays_intl(Arguments& a) {
  return count_between(a, weekend(a, 2), 3);
}
Value workday(Arguments& a) {
  return day_after(a, Workdays::kSaturdaySunday, 2);
}
Value workday_intl(Arguments& a) {
  return day_after(a, weekend(a, 2), 3);
}

constexpr Trait kStrict = Trait::refuses_booleans;
constexpr Function kFunctions[] = {
    {"NETWORKDAYS", "start_date, end_date, [*holidays]", "Workdays between two dates, both included.", networkdays,
     kStrict},
    {"NETWORKDAYS.INTL", "start_date, end_date, [weekend], [*holidays]",
     "Workdays between two dates, with other weekends.", networkdays_intl, kStrict},
    {"WORKDAY", "start_date, days, [*holidays]", "The date some workdays on.", workday, kStrict},
    {"WORKDAY.INTL", "start_date, days, [weekend], [*holidays]", "The date some workdays on, with other weekends.",
     workday_intl, kStrict},
};

}  // namespace

std::span<const Function> workday_functions() {
  return kFunctions;
}

}  // namespace glmhost::formula
