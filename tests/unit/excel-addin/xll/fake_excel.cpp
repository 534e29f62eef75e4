#include "fake_excel.h"

namespace glmhost::xll {
namespace {

FakeExcel* current = nullptr;

bool is_in(const XlArea& area, const std::pair<std::int32_t, std::int32_t>& cell) {
  return cell.first >= area.first_row && cell.first <= area.last_row && cell.second >= area.first_column &&
         cell.second <= area.last_column;
}

const XlArea* area_of(const XLOPER12& argument) {
  if (argument.xltype == xltypeSRef) return &argument.val.sref.area;
  return argument.xltype == xltypeRef && argument.val.mref.areas->count == 1 ? &argument.val.mref.areas->areas[0]
                                                                             : nullptr;
}

}  // namespace

FakeExcel::FakeExcel() {
  current = this;
}
FakeExcel::~FakeExcel() {
  current = nullptr;
}

bool FakeExcel::waits(const XlArea& area) const {
  for (const auto& cell : uncalculated) {
    if (is_in(area, cell)) return true;
  }
  return false;
}

int FakeExcel::coerce(const XLOPER12& argument, XLOPER12& result) {
  const XlArea* area = area_of(argument);
  if (area == nullptr) return xlretInvXloper;
  if (waits(*area)) return xlretUncalced;
  const std::int32_t rows = area->last_row - area->first_row + 1;
  const std::int32_t columns = area->last_column - area->first_column + 1;
  const auto count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  cells_given += count;
  auto memory = std::make_unique<XLOPER12[]>(count);
  for (std::size_t i = 0; i < count; ++i) memory[i].xltype = xltypeNil;
  for (const auto& [cell, number] : cells) {
    if (!is_in(*area, cell)) continue;
    XLOPER12& at = memory[static_cast<std::size_t>(cell.first - area->first_row) * static_cast<std::size_t>(columns) +
                          static_cast<std::size_t>(cell.second - area->first_column)];
    at.val.num = number;
    at.xltype = xltypeNum;
  }
  if (count == 1) {
    result = memory[0];
    return xlretSuccess;
  }
  result.val.array.cells = memory.get();
  result.val.array.rows = rows;
  result.val.array.columns = columns;
  result.xltype = xltypeMulti;
  held_[memory.get()] = std::move(memory);
  return xlretSuccess;
}

int GLMHOST_EXCEL_CALL FakeExcel::callback(int function, int count, const XLOPER12* const* arguments,
                                           XLOPER12* result) {
  switch (function) {
    case xlFree:
      return current->held_.erase(arguments[0]->val.array.cells) == 1 ? xlretSuccess : xlretInvXloper;
    case xlCoerce:
      return current->coerce(*arguments[0], *result);
    case xlfCounta: {
      const XlArea* area = area_of(*arguments[0]);
      if (area == nullptr) return xlretInvXloper;
      if (current->waits(*area)) return xlretUncalced;
      double used = 0;
      for (const auto& [cell, number] : current->cells) used += is_in(*area, cell) ? 1 : 0;
      result->val.num = used;
      result->xltype = xltypeNum;
      return xlretSuccess;
    }
    case xlfRegister: {
      std::vector<std::u16string>& texts = current->registered.emplace_back();
      for (int i = 0; i < count; ++i) {
        const bool is_text = arguments[i]->xltype == xltypeStr;
        texts.emplace_back(is_text ? std::u16string(arguments[i]->val.str + 1, arguments[i]->val.str[0])
                                   : std::u16string());
      }
      result->val.num = static_cast<double>(current->registered.size());
      result->xltype = xltypeNum;
      return xlretSuccess;
    }
    default:
      return xlretInvXlfn;
  }
}

}  // namespace glmhost::xll
