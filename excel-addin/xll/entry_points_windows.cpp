#include <algorithm>
#include <array>
#include <string_view>

#include "excel-addin/xll/entry_points.h"
#include "excel-addin/xll/process.h"
#include "excel-addin/xll/type_text.h"

#define GLMHOST_EXPORT extern "C" __declspec(dllexport)

using glmhost::functions::FunctionId;
using glmhost::xll::worksheet;
using glmhost::xll::XLOPER12;

namespace {

// All arguments are taken as references where they are references: a whole column is then trimmed before it is read.
using Any = const glmhost::xll::ReferenceArgument*;

template <class... Arguments>
XLOPER12* answer(FunctionId function, Arguments... arguments) noexcept {
  const std::array<const XLOPER12*, sizeof...(Arguments)> list = {arguments...};
  return worksheet().answer(function, list);
}

}  // namespace

// Excel passes as many arguments as are registered, and no function template can be exported by name.
#define GLMHOST_PARAMETERS                                                                                             \
  Any a1, Any a2, Any a3, Any a4, Any a5, Any a6, Any a7, Any a8, Any a9, Any a10, Any a11, Any a12, Any a13, Any a14, \
      Any a15, Any a16, Any a17, Any a18, Any a19, Any a20, Any a21, Any a22, Any a23, Any a24, Any a25, Any a26,      \
      Any a27, Any a28, Any a29, Any a30, Any a31, Any a32, Any a33, Any a34, Any a35, Any a36, Any a37, Any a38,      \
      Any a39, Any a40, Any a41, Any a42, Any a43, Any a44, Any a45, Any a46, Any a47, Any a48, Any a49, Any a50,      \
      Any a51, Any a52, Any a53, Any a54, Any a55, Any a56, Any a57, Any a58, Any a59, Any a60
#define GLMHOST_ARGUMENTS                                                                                             \
  a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, \
      a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47,   \
      a48, a49, a50, a51, a52, a53, a54, a55, a56, a57, a58, a59, a60
static_assert(glmhost::functions::kMostArguments == 60);

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm(GLMHOST_PARAMETERS) {
  return answer(FunctionId::glm, GLMHOST_ARGUMENTS);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_with(GLMHOST_PARAMETERS) {
  return answer(FunctionId::with, GLMHOST_ARGUMENTS);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_number(GLMHOST_PARAMETERS) {
  return answer(FunctionId::number, GLMHOST_ARGUMENTS);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_date(GLMHOST_PARAMETERS) {
  return answer(FunctionId::date, GLMHOST_ARGUMENTS);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_bool(GLMHOST_PARAMETERS) {
  return answer(FunctionId::boolean, GLMHOST_ARGUMENTS);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_table(GLMHOST_PARAMETERS) {
  return answer(FunctionId::table, GLMHOST_ARGUMENTS);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_list(Any prompt, Any context, Any max) {
  return answer(FunctionId::list, prompt, context, max);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_grid(Any prompt, Any headers, Any context) {
  return answer(FunctionId::grid, prompt, headers, context);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_classify(Any values, Any labels, Any instructions) {
  return answer(FunctionId::classify, values, labels, instructions);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_extract(Any texts, Any fields, Any instructions) {
  return answer(FunctionId::extract, texts, fields, instructions);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_summarize(Any range, Any words) {
  return answer(FunctionId::summarize, range, words);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_translate(Any values, Any language) {
  return answer(FunctionId::translate, values, language);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_status(Any cell) {
  return answer(FunctionId::status, cell);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_error(Any cell) {
  return answer(FunctionId::error, cell);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_models() {
  return answer(FunctionId::models);
}

GLMHOST_EXPORT XLOPER12* GLMHOST_EXCEL_CALL glm_version() {
  return answer(FunctionId::version);
}

GLMHOST_EXPORT int GLMHOST_EXCEL_CALL glm_cancel_all() {
  worksheet().functions().cancel_all();
  return 1;
}

namespace glmhost::xll {
namespace {

struct EntryPoint {
  FunctionId function;
  std::string_view procedure;
  std::string_view type_text;
  std::size_t arguments;
};

// All may run on any calculation thread: they look up, ask Excel for nothing but cells, the caller and RTD, and return.
template <auto function>
constexpr EntryPoint entry(FunctionId id, std::string_view procedure) {
  return {id, procedure, kTypeText<function, true>.view(), TypeTextOf<decltype(function)>::arguments};
}

constexpr EntryPoint kEntryPoints[] = {
    entry<&glm>(FunctionId::glm, "glm"),
    entry<&glm_with>(FunctionId::with, "glm_with"),
    entry<&glm_number>(FunctionId::number, "glm_number"),
    entry<&glm_date>(FunctionId::date, "glm_date"),
    entry<&glm_bool>(FunctionId::boolean, "glm_bool"),
    entry<&glm_list>(FunctionId::list, "glm_list"),
    entry<&glm_grid>(FunctionId::grid, "glm_grid"),
    entry<&glm_classify>(FunctionId::classify, "glm_classify"),
    entry<&glm_extract>(FunctionId::extract, "glm_extract"),
    entry<&glm_summarize>(FunctionId::summarize, "glm_summarize"),
    entry<&glm_translate>(FunctionId::translate, "glm_translate"),
    entry<&glm_table>(FunctionId::table, "glm_table"),
    entry<&glm_status>(FunctionId::status, "glm_status"),
    entry<&glm_error>(FunctionId::error, "glm_error"),
    entry<&glm_models>(FunctionId::models, "glm_models"),
    entry<&glm_version>(FunctionId::version, "glm_version"),
};

}  // namespace

std::vector<Registration> registrations() {
  std::vector<Registration> all;
  for (const EntryPoint& entry_point : kEntryPoints) {
    const functions::FunctionInfo& info = functions::info(entry_point.function);
    Registration registration;
    registration.procedure = entry_point.procedure;
    registration.type_text = entry_point.type_text;
    registration.name = info.name;
    registration.argument_names = functions::argument_names(info.id);
    registration.category = info.category;
    registration.help = info.help;
    for (std::size_t i = 0; i < entry_point.arguments; ++i) {
      const functions::ArgumentInfo* argument = argument_info(info, i);
      registration.argument_help.emplace_back(argument == nullptr ? std::string_view() : argument->help);
    }
    all.push_back(std::move(registration));
  }
  Registration cancel;
  cancel.procedure = "glm_cancel_all";
  cancel.type_text = "J";
  cancel.name = "GLM.CANCEL";
  cancel.category = "GLM";
  cancel.help = "Stops all work on answers that are not there yet.";
  cancel.is_command = true;
  all.push_back(std::move(cancel));
  return all;
}

}  // namespace glmhost::xll
