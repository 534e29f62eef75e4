#include "excel-addin/xll/entry_points.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "excel-addin/xll/process.h"
#include "excel-addin/xll/type_text.h"

#define GLMHOST_EXPORT extern "C" __declspec(dllexport)

using glmhost::xll::add_in;
using glmhost::xll::XLOPER12;

namespace {

// All arguments are taken as references where they are references: a whole column is then trimmed before it is read.
using Any = const glmhost::xll::ReferenceArgument*;

template <class... Arguments>
XLOPER12* answer(std::string_view function, Arguments... arguments) noexcept {
  const std::array<const XLOPER12*, sizeof...(Arguments)> list = {arguments...};
  return add_in().answer(function, list);
}

}  // namespace

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm(Any a1, Any a2, Any a3, Any a4, Any a5, Any a6, Any a7, Any a8, Any a9,
                                                Any a10, Any a11, Any a12, Any a13, Any a14, Any a15, Any a16, Any a17,
                                                Any a18, Any a19, Any a20, Any a21, Any a22, Any a23, Any a24, Any a25,
                                                Any a26, Any a27, Any a28) {
  return answer("GLM", a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21,
                a22, a23, a24, a25, a26, a27, a28);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_with(Any options, Any a1, Any a2, Any a3, Any a4, Any a5, Any a6,
                                                     Any a7, Any a8, Any a9, Any a10, Any a11, Any a12, Any a13,
                                                     Any a14, Any a15, Any a16, Any a17, Any a18, Any a19, Any a20,
                                                     Any a21, Any a22, Any a23, Any a24, Any a25, Any a26, Any a27,
                                                     Any a28) {
  return answer("GLM.WITH", options, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18,
                a19, a20, a21, a22, a23, a24, a25, a26, a27, a28);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_number(Any a1, Any a2, Any a3, Any a4, Any a5, Any a6, Any a7, Any a8,
                                                       Any a9, Any a10, Any a11, Any a12, Any a13, Any a14, Any a15,
                                                       Any a16, Any a17, Any a18, Any a19, Any a20, Any a21, Any a22,
                                                       Any a23, Any a24, Any a25, Any a26, Any a27, Any a28) {
  return answer("GLM.NUMBER", a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20,
                a21, a22, a23, a24, a25, a26, a27, a28);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_date(Any a1, Any a2, Any a3, Any a4, Any a5, Any a6, Any a7, Any a8,
                                                     Any a9, Any a10, Any a11, Any a12, Any a13, Any a14, Any a15,
                                                     Any a16, Any a17, Any a18, Any a19, Any a20, Any a21, Any a22,
                                                     Any a23, Any a24, Any a25, Any a26, Any a27, Any a28) {
  return answer("GLM.DATE", a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20,
                a21, a22, a23, a24, a25, a26, a27, a28);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_bool(Any a1, Any a2, Any a3, Any a4, Any a5, Any a6, Any a7, Any a8,
                                                     Any a9, Any a10, Any a11, Any a12, Any a13, Any a14, Any a15,
                                                     Any a16, Any a17, Any a18, Any a19, Any a20, Any a21, Any a22,
                                                     Any a23, Any a24, Any a25, Any a26, Any a27, Any a28) {
  return answer("GLM.BOOL", a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20,
                a21, a22, a23, a24, a25, a26, a27, a28);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_list(Any prompt, Any context, Any max) {
  return answer("GLM.LIST", prompt, context, max);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_grid(Any prompt, Any headers, Any context) {
  return answer("GLM.GRID", prompt, headers, context);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_classify(Any values, Any labels, Any instructions) {
  return answer("GLM.CLASSIFY", values, labels, instructions);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_extract(Any texts, Any fields, Any instructions) {
  return answer("GLM.EXTRACT", texts, fields, instructions);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_summarize(Any range, Any words) {
  return answer("GLM.SUMMARIZE", range, words);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_translate(Any values, Any language) {
  return answer("GLM.TRANSLATE", values, language);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_table(Any pipeline, Any t1, Any t2, Any t3, Any t4, Any t5, Any t6,
                                                      Any t7, Any t8) {
  return answer("GLM.TABLE", pipeline, t1, t2, t3, t4, t5, t6, t7, t8);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_status(Any cell) {
  return add_in().status(*cell);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_error(Any cell) {
  return add_in().error_sentence(*cell);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_models() {
  return answer("GLM.MODELS");
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_version() {
  return answer("GLM.VERSION");
}

GLMHOST_EXPORT int GLMHOST_EXCEL_CALL glm_cancel_all() {
  add_in().cancel_all();
  return 1;
}

namespace glmhost::xll {
namespace {

struct EntryPoint {
  std::string_view function;
  std::string_view procedure;
  std::string_view type_text;
};

// All may run on any calculation thread: they look up, ask Excel for nothing but cells, the caller and RTD, and return.
constexpr EntryPoint kEntryPoints[] = {
    {"GLM", "glm", kTypeText<&glm, true>.view()},
    {"GLM.WITH", "glm_with", kTypeText<&glm_with, true>.view()},
    {"GLM.NUMBER", "glm_number", kTypeText<&glm_number, true>.view()},
    {"GLM.DATE", "glm_date", kTypeText<&glm_date, true>.view()},
    {"GLM.BOOL", "glm_bool", kTypeText<&glm_bool, true>.view()},
    {"GLM.LIST", "glm_list", kTypeText<&glm_list, true>.view()},
    {"GLM.GRID", "glm_grid", kTypeText<&glm_grid, true>.view()},
    {"GLM.CLASSIFY", "glm_classify", kTypeText<&glm_classify, true>.view()},
    {"GLM.EXTRACT", "glm_extract", kTypeText<&glm_extract, true>.view()},
    {"GLM.SUMMARIZE", "glm_summarize", kTypeText<&glm_summarize, true>.view()},
    {"GLM.TRANSLATE", "glm_translate", kTypeText<&glm_translate, true>.view()},
    {"GLM.TABLE", "glm_table", kTypeText<&glm_table, true>.view()},
    {"GLM.STATUS", "glm_status", kTypeText<&glm_status, true>.view()},
    {"GLM.ERROR", "glm_error", kTypeText<&glm_error, true>.view()},
    {"GLM.MODELS", "glm_models", kTypeText<&glm_models, true>.view()},
    {"GLM.VERSION", "glm_version", kTypeText<&glm_version, true>.view()},
};

}  // namespace

std::vector<Registration> registrations(const std::vector<FunctionText>& catalogue) {
  std::vector<Registration> all;
  for (const EntryPoint& entry : kEntryPoints) {
    const auto text = std::ranges::find(catalogue, entry.function, &FunctionText::name);
    if (text != catalogue.end()) all.push_back({std::string(entry.procedure), std::string(entry.type_text), *text, false});
  }
  all.push_back({"glm_cancel_all", "J", {"GLM.CANCEL", "Stops all work on answers that are not there yet.", {}}, true});
  return all;
}

}  // namespace glmhost::xll
