// CONVERT's units.
#pragma once

#include <string_view>

#include "excel-addin/formula/coercion.h"

namespace glmhost::formula {

// `number` of one unit in another. #N/A for a unit that does not exist, or that measures another thing. Names mind
// case; metric units take a prefix (km, Mbit, kibyte).
Result<double> convert_unit(double number, std::string_view from, std::string_view to);

}  // namespace glmhost::formula
