// The functions that Excel calls, by the names under which the DLL exports them.
#pragma once

#include <vector>

#include "excel-addin/xll/registration.h"

namespace glmhost::xll {

// All functions and commands that the DLL exports, with the texts of the catalogue. A function that the catalogue does
// not know is left out.
std::vector<Registration> registrations(const std::vector<FunctionText>& catalogue);

}  // namespace glmhost::xll
