// What Excel and COM look for in the DLL.
#include <objbase.h>
#include <windows.h>

#include <exception>
#include <string>
#include <string_view>

#include "excel-addin/com/registration.h"
#include "excel-addin/com/rtd_server.h"
#include "excel-addin/xll/entry_points.h"
#include "excel-addin/xll/module.h"
#include "excel-addin/xll/process.h"

#define GLMHOST_EXPORT extern "C" __declspec(dllexport)

using glmhost::xll::worksheet;
using glmhost::xll::XLOPER12;

namespace {

void register_event(int event, std::u16string_view procedure) {
  using namespace glmhost::xll;
  const Excel excel(find_callback());
  const CountedText name{procedure};
  const XLOPER12 values[] = {name(), integer(event)};
  ExcelValue ignored = excel.value();
  excel.call(xlEventRegister, ignored, {&values[0], &values[1]});
}

}  // namespace

// --- Excel

// What the calculation asked goes out at once.
GLMHOST_EXPORT int GLMHOST_EXCEL_CALL glm_calculation_ended() {
  worksheet().functions().calculation_ended();
  return 1;
}

// Esc within a calculation ends what it would have waited for.
GLMHOST_EXPORT int GLMHOST_EXCEL_CALL glm_calculation_canceled() {
  worksheet().functions().cancel_all();
  return 1;
}

GLMHOST_EXPORT int GLMHOST_EXCEL_CALL xlAutoOpen() {
  using namespace glmhost;
  try {
    xll::pin_module();
    const std::u16string path = xll::module_path();
    com::register_classes(std::wstring(path.begin(), path.end()));
    register_event(xll::xleventCalculationEnded, u"glm_calculation_ended");
    register_event(xll::xleventCalculationCanceled, u"glm_calculation_canceled");
    return worksheet().register_all(path, xll::registrations()) ? 1 : 0;
  } catch (const std::exception&) {
    return 0;
  }
}

// Excel calls this before it asks "Save?", and the user may press Cancel then. So nothing is taken down here, and at
// the real end the process takes everything with it.
GLMHOST_EXPORT int GLMHOST_EXCEL_CALL xlAutoClose() {
  return 1;
}

GLMHOST_EXPORT int GLMHOST_EXCEL_CALL xlAutoAdd() {
  return 1;
}

// The user has taken the add-in off the list.
GLMHOST_EXPORT int GLMHOST_EXCEL_CALL xlAutoRemove() {
  worksheet().unregister_all();
  return 1;
}

GLMHOST_EXPORT void GLMHOST_EXCEL_CALL xlAutoFree12(XLOPER12* value) {
  glmhost::xll::free_result(value);
}

// The name in the list of add-ins, for action 1.
GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL xlAddInManagerInfo12(const XLOPER12* action) {
  using namespace glmhost::xll;
  const bool wants_name = action != nullptr && (((action->xltype & kTypeMask) == xltypeNum && action->val.num == 1) ||
                                                ((action->xltype & kTypeMask) == xltypeInt && action->val.w == 1));
  try {
    const glmhost::formula::Value name("GLM Host: language models on this computer");
    return make_result(wants_name ? name : glmhost::formula::Value(glmhost::formula::ErrorCode::value)).release();
  } catch (const std::exception&) {
    return nullptr;
  }
}

// --- COM

GLMHOST_EXPORT HRESULT WINAPI DllGetClassObject(REFCLSID id, REFIID interface_id, void** out) {
  if (out == nullptr) return E_POINTER;
  *out = nullptr;
  if (!IsEqualGUID(id, glmhost::com::kRtdClassId)) return CLASS_E_CLASSNOTAVAILABLE;
  glmhost::xll::pin_module();  // it watches answers from threads of its own
  static auto* const factory = new glmhost::com::RtdClassFactory(worksheet().topics());
  return factory->QueryInterface(interface_id, out);
}

GLMHOST_EXPORT HRESULT WINAPI DllCanUnloadNow() {
  return S_FALSE;
}

GLMHOST_EXPORT HRESULT WINAPI DllRegisterServer() {
  const std::u16string path = glmhost::xll::module_path();
  return glmhost::com::register_classes(std::wstring(path.begin(), path.end()));
}

GLMHOST_EXPORT HRESULT WINAPI DllUnregisterServer() {
  return glmhost::com::unregister_classes();
}
