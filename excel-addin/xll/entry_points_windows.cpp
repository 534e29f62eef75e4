#include "excel-addin/xll/entry_points.h"

#include "excel-addin/xll/add_in.h"
#include "excel-addin/xll/type_text.h"

#define GLMHOST_EXPORT extern "C" __declspec(dllexport)

using glmhost::xll::AddIn;
using glmhost::xll::XLOPER12;

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_version() {
  return AddIn::instance().answer("GLM.VERSION", {});
}

namespace glmhost::xll {

std::vector<Registration> registrations() {
  return {{"glm_version", std::string(kTypeText<&glm_version, true>.view()), {"GLM.VERSION", "The add-in's version.", {}}, false}};
}

}  // namespace glmhost::xll
