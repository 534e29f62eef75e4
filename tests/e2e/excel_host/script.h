// Runs a workbook script; README.md tells its language.
#pragma once

#include <string>

#include "tests/e2e/excel_host/host.h"

namespace excel_host {

// Throws Failure with the line that did not hold.
void run_script(Host& host, const std::string& path);

}  // namespace excel_host
