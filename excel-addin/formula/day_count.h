// How much of a year lies between two days, by the conventions of bonds and loans.
#pragma once

#include <cstdint>

#include "excel-addin/formula/calendar.h"

namespace glmhost::formula {

enum class Basis : std::uint8_t {
  us_30_360 = 0,
  actual_actual = 1,
  actual_360 = 2,
  actual_365 = 3,
  european_30_360 = 4
};

// Days between two days of years of 360; `us` by NASD's rule, else the European one.
std::int64_t days_360(Date start, Date end, bool us);

// As Excel's DAYS360 counts by the American rule: the end's 31st becomes the 1st of the next month when the start lies
// before the 30th.
std::int64_t days_360_rolling(Date start, Date end);

// YEARFRAC. The order of the two does not matter.
double year_fraction(std::int64_t start, std::int64_t end, Basis basis);

}  // namespace glmhost::formula
