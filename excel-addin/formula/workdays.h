// Days that are neither weekend nor holiday.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace glmhost::formula {

class Workdays {
 public:
  // Monday first; true is free.
  using Weekend = std::array<bool, 7>;
  static constexpr Weekend kSaturdaySunday = {false, false, false, false, false, true, true};

  // `holidays` are serials in any order.
  Workdays(const Weekend& weekend, std::vector<std::int64_t> holidays);

  bool none() const;  // every day of the week is free
  bool is_workday(std::int64_t serial) const;

  // Workdays from first to last, both included; negative when last lies before first.
  std::int64_t between(std::int64_t first, std::int64_t last) const;

  // The day `count` workdays on or back. Nothing outside of the calendar, or when there are no workdays.
  std::optional<std::int64_t> after(std::int64_t start, std::int64_t count) const;

 private:
  Weekend weekend_;
  std::vector<std::int64_t> holidays_;  // sorted, each once, none on a weekend
};

}  // namespace glmhost::formula
