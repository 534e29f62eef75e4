#include "excel-addin/formula/workdays.h"

#include <algorithm>

#include "excel-addin/formula/calendar.h"

namespace glmhost::formula {
namespace {

std::size_t day_of_week(std::int64_t serial) {  // 0 is Monday
  return static_cast<std::size_t>((weekday_of(serial) + 5) % 7);
}

}  // namespace

Workdays::Workdays(const Weekend& weekend, std::vector<std::int64_t> holidays)
    : weekend_(weekend), holidays_(std::move(holidays)) {
  std::erase_if(holidays_, [&](std::int64_t day) { return day < 0 || weekend_[day_of_week(day)]; });
  std::ranges::sort(holidays_);
  holidays_.erase(std::unique(holidays_.begin(), holidays_.end()), holidays_.end());
}

bool Workdays::none() const {
  return std::ranges::all_of(weekend_, [](bool is_free) { return is_free; });
}

bool Workdays::is_workday(std::int64_t serial) const {
  return !weekend_[day_of_week(serial)] && !std::ranges::binary_search(holidays_, serial);
}

std::int64_t Workdays::between(std::int64_t first, std::int64_t last) const {
  if (first > last) return -between(last, first);
  const std::int64_t days = last - first + 1;
  std::int64_t count = days / 7 * std::ranges::count(weekend_, false);
  for (std::int64_t day = last - days % 7 + 1; day <= last; ++day) count += weekend_[day_of_week(day)] ? 0 : 1;
  const auto from = std::ranges::lower_bound(holidays_, first);
  const auto to = std::ranges::upper_bound(holidays_, last);
  return count - (to - from);
}

std::optional<std::int64_t> Workdays::after(std::int64_t start, std::int64_t count) const {
  if (count == 0) return start;
  if (none()) return std::nullopt;
  const std::int64_t step = count > 0 ? 1 : -1;
  std::int64_t day = start;
  for (std::int64_t left = std::abs(count); left > 0;) {
    day += step;
    if (day < 0 || day > static_cast<std::int64_t>(kLastSerial)) return std::nullopt;
    if (is_workday(day)) --left;
  }
  return day;
}

}  // namespace glmhost::formula
