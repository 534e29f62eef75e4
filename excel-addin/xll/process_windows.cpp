#include "excel-addin/xll/process.h"

#include "excel-addin/xll/model_answers.h"
#include "excel-addin/xll/module.h"

namespace glmhost::xll {

AddIn& add_in() {
  static AddIn* const only = new AddIn(find_callback(), std::make_unique<ModelAnswers>(), is_in_function_wizard);
  return *only;
}

}  // namespace glmhost::xll
