// MdCallBack12: what the add-in may ask Excel, and from where.
#include <windows.h>

#include <algorithm>

#include "tests/e2e/excel_host/host.h"

namespace excel_host {
namespace {

using namespace glmhost::xll;

std::u16string_view text(const XLOPER12& value) {
  if ((value.xltype & kTypeMask) != xltypeStr) return {};
  return {value.val.str + 1, value.val.str[0]};
}

XLOPER12 make_number(double value) {
  XLOPER12 made{};
  made.val.num = value;
  made.xltype = xltypeNum;
  return made;
}

}  // namespace

std::vector<Range> Host::areas_of(const XLOPER12& argument, const Visit& visit) {
  std::vector<Range> areas;
  if ((argument.xltype & kTypeMask) == xltypeSRef) {
    areas.push_back({visit.caller.sheet, argument.val.sref.area});
  } else if ((argument.xltype & kTypeMask) == xltypeRef && argument.val.mref.areas != nullptr) {
    const int sheet = sheet_of_number(argument.val.mref.sheet);
    for (std::uint16_t i = 0; i < argument.val.mref.areas->count && sheet >= 0; ++i) {
      areas.push_back({sheet, argument.val.mref.areas->areas[i]});
    }
  }
  for (const Range& range : areas) {
    const XlArea& area = range.area;
    if (area.first_row < 0 || area.first_row > area.last_row || area.last_row >= kMostRows || area.first_column < 0 ||
        area.first_column > area.last_column || area.last_column >= kMostColumns) {
      violations.add(visit.name + " gave Excel an area that is outside of the sheet");
      return {};
    }
  }
  return areas;
}

int Host::coerce(const XLOPER12& argument, Visit& visit, XLOPER12& result) {
  const std::vector<Range> areas = areas_of(argument, visit);
  if (areas.size() != 1) {
    violations.add(visit.name + " coerced a value that is no single area");
    return xlretInvXloper;
  }
  if (areas[0].cells() > 64'000'000) {
    violations.add(visit.name + " coerced " + std::to_string(areas[0].cells()) + " cells at once");
    return xlretFailed;
  }
  if (book.has_dirty(areas[0])) {
    visit.uncalculated = true;
    return xlretUncalced;
  }
  Argument value;
  value.kind = Argument::Kind::array;
  value.grid = book.grid(areas[0]);
  if (value.grid.cells.size() == 1) {
    value.kind = Argument::Kind::value;
    value.value = value.grid.cells[0];
  }
  given.give(value, "xlCoerce", result);
  return xlretSuccess;
}

int Host::count_values(const std::vector<const XLOPER12*>& arguments, Visit& visit, XLOPER12& result) {
  std::size_t count = 0;
  for (const XLOPER12* argument : arguments) {
    const std::vector<Range> areas = areas_of(*argument, visit);
    if (areas.empty()) return xlretInvXloper;
    for (const Range& area : areas) {
      if (book.has_dirty(area)) {
        visit.uncalculated = true;
        return xlretUncalced;
      }
      count += book.count_values(area);
    }
  }
  result = make_number(static_cast<double>(count));
  return xlretSuccess;
}

int Host::rtd_value(const std::vector<const XLOPER12*>& arguments, Visit& visit, XLOPER12& result) {
  std::vector<std::u16string> strings;
  for (std::size_t i = 2; i < arguments.size(); ++i) strings.emplace_back(text(*arguments[i]));
  if (strings.empty() || text(*arguments[0]).empty()) {
    violations.add(visit.name + " asked RTD for nothing");
    return xlretInvCount;
  }
  Argument value;
  value.kind = Argument::Kind::value;
  std::string problem;
  on_main_thread([&] {
    try {
      const int topic = rtd.topic(std::u16string(text(*arguments[0])), strings);
      visit.topics.insert(topic);
      value.value = rtd.value(topic);
    } catch (const Failure& failure) {
      problem = failure.sentence;
    }
  });
  if (!problem.empty()) {
    violations.add(problem);
    return xlretFailed;
  }
  given.give(value, "RTD", result);
  return xlretSuccess;
}

int Host::callback(int function, const std::vector<const XLOPER12*>& arguments, XLOPER12* result) {
  Visit* visit = current_visit();
  if (visit == nullptr) {
    violations.add("function " + std::to_string(function) +
                   " of Excel was called where the add-in may not: outside of a call into it, or within RTD");
    return xlretFailed;
  }
  XLOPER12 ignored{};
  XLOPER12& out = result == nullptr ? ignored : *result;
  const bool is_command = visit->kind == Visit::Kind::command;
  const auto forbidden = [&](const char* name) {
    violations.add(visit->name + " called " + name + ", which Excel refuses there");
    return visit->kind == Visit::Kind::thread_safe_function ? xlretNotThreadSafe : xlretFailed;
  };
  switch (function) {
    case xlFree: {
      bool well = true;
      for (const XLOPER12* argument : arguments) well = given.free(*argument) && well;
      return well ? xlretSuccess : xlretInvXloper;
    }
    case xlCoerce:
      return is_command ? forbidden("xlCoerce") : coerce(*arguments.at(0), *visit, out);
    case xlfCounta:
      return is_command ? forbidden("COUNTA") : count_values(arguments, *visit, out);
    case xlfRtd:
      return is_command ? forbidden("RTD") : rtd_value(arguments, *visit, out);
    case xlfCaller: {
      if (is_command) {
        out.xltype = xltypeErr;
        out.val.err = xlerrRef;
        return xlretSuccess;
      }
      out.val.sref.count = 1;
      out.val.sref.area = {visit->caller.row, visit->caller.row, visit->caller.column, visit->caller.column};
      out.xltype = xltypeSRef;
      return xlretSuccess;
    }
    case xlSheetId: {
      out.val.mref.areas = nullptr;
      out.val.mref.sheet = sheet_number(visit->caller.sheet);
      if (!arguments.empty()) {
        const std::vector<Range> areas = areas_of(*arguments[0], *visit);
        if (areas.empty()) return xlretInvXloper;
        out.val.mref.sheet = sheet_number(areas[0].sheet);
      }
      out.xltype = xltypeRef;
      return xlretSuccess;
    }
    case xlSheetNm: {
      const std::vector<Range> areas = arguments.empty() ? std::vector<Range>() : areas_of(*arguments[0], *visit);
      if (areas.empty()) return xlretInvXloper;
      Argument name;
      name.kind = Argument::Kind::value;
      name.value = u"[Book1.xlsx]Sheet" + to_utf16(std::to_string(areas[0].sheet + 1));
      given.give(name, "xlSheetNm", out);
      return xlretSuccess;
    }
    case xlAbort:
      out.val.boolean = escaped_ ? 1 : 0;
      out.xltype = xltypeBool;
      return xlretSuccess;
    case xlGetName: {
      Argument name;
      name.kind = Argument::Kind::value;
      name.value = to_utf16(add_in.path());
      given.give(name, "xlGetName", out);
      return xlretSuccess;
    }
    case xlGetHwnd:
      out.val.w = static_cast<std::int32_t>(reinterpret_cast<std::intptr_t>(window_));
      out.xltype = xltypeInt;
      return xlretSuccess;
    case xlEventRegister:
      if (!is_command) return forbidden("xlEventRegister");
      if (arguments.size() != 2) return xlretInvCount;
      return add_in.register_event(to_utf8(text(*arguments[0])), (arguments[1]->xltype & kTypeMask) == xltypeInt
                                                                     ? arguments[1]->val.w
                                                                     : static_cast<int>(arguments[1]->val.num));
    case xlfRegister:
      return is_command ? add_in.register_function(arguments, out) : forbidden("xlfRegister");
    case xlfUnregister:
      return is_command ? add_in.unregister(arguments.at(0)->val.num) : forbidden("xlfUnregister");
    case xlfSetName:
      return is_command ? add_in.set_name(arguments) : forbidden("xlfSetName");
    case xlfGetWorkspace: {
      if (!is_command) return forbidden("GET.WORKSPACE");
      Argument version;
      version.kind = Argument::Kind::value;
      version.value = std::u16string(u"16.0");
      given.give(version, "GET.WORKSPACE", out);
      return xlretSuccess;
    }
    case xlfGetCell:
      return forbidden("GET.CELL");
    default:
      violations.add(visit->name + " called function " + std::to_string(function) + ", which this host does not know");
      return xlretInvXlfn;
  }
}

}  // namespace excel_host

extern "C" __declspec(dllexport) int GLMHOST_EXCEL_CALL
    MdCallBack12(int function, int count, const glmhost::xll::XLOPER12* const* arguments,
                 glmhost::xll::XLOPER12* result) {
  const std::vector<const glmhost::xll::XLOPER12*> list(arguments, arguments + count);
  if (std::ranges::find(list, nullptr) != list.end()) {
    excel_host::Host::instance().violations.add("Excel was given a null pointer as an argument");
    return glmhost::xll::xlretInvXloper;
  }
  return excel_host::Host::instance().callback(function, list, result);
}
