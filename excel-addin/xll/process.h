// The one add-in of this process.
#pragma once

#include "excel-addin/xll/worksheet.h"

namespace glmhost::xll {

// Made on first use and never destroyed: Excel may call functions until its very end, and RTD objects outlive
// xlAutoClose.
Worksheet& worksheet();

}  // namespace glmhost::xll
