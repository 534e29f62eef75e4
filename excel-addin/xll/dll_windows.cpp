// What Excel and COM look for in the DLL.
#include <windows.h>

#include <objbase.h>

#include "excel-addin/com/registration.h"
#include "excel-addin/com/rtd_server.h"
#include "excel-addin/xll/add_in.h"
#include "excel-addin/xll/module.h"

#define GLMHOST_EXPORT extern "C" __declspec(dllexport)

using glmhost::xll::AddIn;
using glmhost::xll::XLOPER12;

// --- Excel

GLMHOST_EXPORT int GLMHOST_EXCEL_CALL xlAutoOpen() {
  AddIn::instance().open();
  return 1;
}

// Excel calls this before it asks "Save?", and the user may press Cancel then. So nothing is taken down here, and at the
// real end the process takes everything with it.
GLMHOST_EXPORT int GLMHOST_EXCEL_CALL xlAutoClose() {
  return 1;
}

GLMHOST_EXPORT int GLMHOST_EXCEL_CALL xlAutoAdd() {
  return 1;
}

// The user has taken the add-in off the list.
GLMHOST_EXPORT int GLMHOST_EXCEL_CALL xlAutoRemove() {
  AddIn::instance().remove();
  return 1;
}

GLMHOST_EXPORT void GLMHOST_EXCEL_CALL xlAutoFree12(XLOPER12* value) {
  glmhost::xll::free_result(value);
}

// The name in the list of add-ins, for action 1.
GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL xlAddInManagerInfo12(const XLOPER12* action) {
  using namespace glmhost::xll;
  const bool wants_name =
      action != nullptr && (((action->xltype & kTypeMask) == xltypeNum && action->val.num == 1) ||
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
  static auto* const factory = new glmhost::com::RtdClassFactory(AddIn::instance().topics());
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
