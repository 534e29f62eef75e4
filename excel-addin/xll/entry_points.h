// The functions that Excel calls, by the names under which the DLL exports them.
#pragma once

#include <vector>

#include "excel-addin/xll/registration.h"

namespace glmhost::xll {

// All functions and commands that the DLL exports, with the texts of the catalogue.
std::vector<Registration> registrations();

}  // namespace glmhost::xll
