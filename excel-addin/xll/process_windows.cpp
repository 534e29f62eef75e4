#include "excel-addin/xll/module.h"
#include "excel-addin/xll/process.h"

namespace glmhost::xll {

Worksheet& worksheet() {
  static auto* const only = new Worksheet(find_callback(), is_in_function_wizard);
  return *only;
}

}  // namespace glmhost::xll
