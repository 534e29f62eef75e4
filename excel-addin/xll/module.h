// The DLL that this code lies in, and the program that loaded it.
#pragma once

#include <string>

#include "excel-addin/xll/excel_api.h"

namespace glmhost::xll {

// Excel's callback; null when no Excel has loaded this DLL, as when a script makes the RTD object.
Callback find_callback();

std::u16string module_path();

// From now on the DLL stays loaded until the process ends. Excel unloads an add-in within 100 ms after it began to shut
// down, with answers under way and threads running; what they run must not vanish.
void pin_module();

// Whether Excel's Function Wizard (or another dialogue of its kind) is open on this thread: it calls functions to
// preview them at every key that is pressed. False on calculation threads, where no dialogue ever is.
bool is_in_function_wizard();

}  // namespace glmhost::xll
