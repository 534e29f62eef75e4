// Functions that the table language has beside Excel's.
#pragma once

#include <span>

#include "excel-addin/formula/function.h"

namespace glmhost::table {

// COUNT() of rows, FIRST, LAST, COUNTDISTINCT, WEIGHTEDAVERAGE: everywhere.
std::span<const formula::Function> table_functions();

// Those and ROWNUMBER, RANK, DENSERANK, NTILE, LAG, LEAD: in `window`. Their code is the stage's.
std::span<const formula::Function> window_functions();

}  // namespace glmhost::table
