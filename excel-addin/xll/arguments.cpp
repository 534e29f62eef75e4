#include "excel-addin/xll/arguments.h"

#include <algorithm>

#include "excel-addin/formula/text_units.h"
#include "excel-addin/xll/result.h"

namespace glmhost::xll {
namespace {

using formula::ErrorCode;
using formula::Value;

constexpr std::int64_t kMostCellsOfPiece = std::int64_t{1} << 22;
// Asking for the used part costs some twenty calls; smaller areas are read as they are.
constexpr std::int64_t kSmallArea = 4096;

bool is_inside_sheet(const XlArea& area) {
  return area.first_row >= 0 && area.first_row <= area.last_row && area.last_row < kMostRows &&
         area.first_column >= 0 && area.first_column <= area.last_column && area.last_column < kMostColumns;
}

// An argument for Excel that names one area.
class AreaArgument {
 public:
  AreaArgument(std::uintptr_t sheet, const XlArea& area) : areas_{1, {area}} {
    if (sheet == 0) {
      value_.val.sref.count = 1;
      value_.val.sref.area = area;
      value_.xltype = xltypeSRef;
    } else {
      value_.val.mref.areas = &areas_;
      value_.val.mref.sheet = sheet;
      value_.xltype = xltypeRef;
    }
  }
  AreaArgument(const AreaArgument&) = delete;
  AreaArgument& operator=(const AreaArgument&) = delete;
  const XLOPER12* operator()() const { return &value_; }

 private:
  XlAreas areas_;
  XLOPER12 value_{};
};

ReadOutcome outcome(int code) {
  if (code == xlretSuccess) return ReadOutcome::done;
  return (code & xlretUncalced) != 0 ? ReadOutcome::uncalculated : ReadOutcome::failed;
}

ReadOutcome is_used(const Excel& excel, std::uintptr_t sheet, const XlArea& area, bool& used) {
  const AreaArgument argument(sheet, area);
  ExcelValue count = excel.value();
  const ReadOutcome result = outcome(excel.call(xlfCounta, count, {argument()}));
  if (result != ReadOutcome::done) return result;
  if (count.type() != xltypeNum) return ReadOutcome::failed;
  used = count->val.num > 0;
  return ReadOutcome::done;
}

// The smallest `last` from `first` on behind which nothing is used.
ReadOutcome cut(const Excel& excel, std::uintptr_t sheet, XlArea& area, std::int32_t XlArea::*first,
                std::int32_t XlArea::*last) {
  std::int32_t low = area.*first;
  std::int32_t high = area.*last;
  while (low < high) {
    const std::int32_t middle = low + (high - low) / 2;
    XlArea behind = area;
    behind.*first = middle + 1;
    bool used = false;
    if (const ReadOutcome result = is_used(excel, sheet, behind, used); result != ReadOutcome::done) return result;
    if (used) {
      low = middle + 1;
    } else {
      high = middle;
    }
    area.*last = high;
  }
  return ReadOutcome::done;
}

Value scalar_of(const XLOPER12& cell) {
  switch (cell.xltype & kTypeMask) {
    case xltypeNum:
      return cell.val.num;
    case xltypeInt:
      return static_cast<double>(cell.val.w);
    case xltypeStr:
      return formula::from_utf16(text_of(cell));
    case xltypeBool:
      return cell.val.boolean != 0;
    case xltypeErr:
      return error_of(cell.val.err);
    case xltypeMissing:
      return Value::omitted();
    case xltypeNil:
      return {};
    default:
      return ErrorCode::value;
  }
}

// Copies the cells of a value, an array or not, into `array` from a corner on.
void copy_cells(const XLOPER12& value, formula::Array& array, std::size_t row, std::size_t column) {
  if ((value.xltype & kTypeMask) != xltypeMulti) {
    array(row, column) = scalar_of(value);
    return;
  }
  if (cells_in(value) == 0) return;
  const auto rows = static_cast<std::size_t>(value.val.array.rows);
  const auto columns = static_cast<std::size_t>(value.val.array.columns);
  for (std::size_t r = 0; r < rows && row + r < array.rows(); ++r) {
    for (std::size_t c = 0; c < columns && column + c < array.columns(); ++c) {
      array(row + r, column + c) = scalar_of(value.val.array.cells[r * columns + c]);
    }
  }
}

std::size_t rows_of(const XlArea& area) {
  return static_cast<std::size_t>(area.last_row - area.first_row + 1);
}
std::size_t columns_of(const XlArea& area) {
  return static_cast<std::size_t>(area.last_column - area.first_column + 1);
}

}  // namespace

bool is_reference(const XLOPER12& argument) {
  const std::uint32_t type = argument.xltype & kTypeMask;
  return type == xltypeSRef || type == xltypeRef;
}

std::optional<Reference> reference_of(const XLOPER12& argument) {
  Reference reference;
  switch (argument.xltype & kTypeMask) {
    case xltypeSRef:
      reference.areas.push_back(argument.val.sref.area);
      break;
    case xltypeRef:
      if (argument.val.mref.areas == nullptr || argument.val.mref.areas->count == 0) return std::nullopt;
      reference.areas.assign(argument.val.mref.areas->areas,
                             argument.val.mref.areas->areas + argument.val.mref.areas->count);
      reference.sheet = argument.val.mref.sheet;
      break;
    default:
      return std::nullopt;
  }
  if (!std::ranges::all_of(reference.areas, is_inside_sheet)) return std::nullopt;
  return reference;
}

std::size_t cells_in(const XLOPER12& argument) {
  if ((argument.xltype & kTypeMask) != xltypeMulti) return 1;
  const auto& array = argument.val.array;
  if (array.cells == nullptr || array.rows < 1 || array.rows > kMostRows || array.columns < 1 ||
      array.columns > kMostColumns) {
    return 0;
  }
  return static_cast<std::size_t>(array.rows) * static_cast<std::size_t>(array.columns);
}

Value to_value(const XLOPER12& argument) {
  if ((argument.xltype & kTypeMask) != xltypeMulti) return scalar_of(argument);
  const std::size_t cells = cells_in(argument);
  if (cells == 0) return ErrorCode::value;
  formula::Array array(static_cast<std::size_t>(argument.val.array.rows),
                       static_cast<std::size_t>(argument.val.array.columns));
  copy_cells(argument, array, 0, 0);
  return array;
}

ReadOutcome trim(const Excel& excel, std::uintptr_t sheet, XlArea& area, bool& empty) {
  empty = false;
  if (static_cast<std::int64_t>(rows_of(area)) * static_cast<std::int64_t>(columns_of(area)) <= kSmallArea) {
    return ReadOutcome::done;
  }
  bool used = false;
  if (const ReadOutcome result = is_used(excel, sheet, area, used); result != ReadOutcome::done) return result;
  empty = !used;
  if (empty) return ReadOutcome::done;
  const ReadOutcome result = cut(excel, sheet, area, &XlArea::first_row, &XlArea::last_row);
  if (result != ReadOutcome::done) return result;
  return cut(excel, sheet, area, &XlArea::first_column, &XlArea::last_column);
}

ReadOutcome read(const Excel& excel, std::uintptr_t sheet, const XlArea& area,
                 const std::function<void(ExcelValue)>& take) {
  const std::int64_t rows = std::max<std::int64_t>(1, kMostCellsOfPiece / static_cast<std::int64_t>(columns_of(area)));
  for (std::int64_t row = area.first_row; row <= area.last_row; row += rows) {
    XlArea piece = area;
    piece.first_row = static_cast<std::int32_t>(row);
    piece.last_row = static_cast<std::int32_t>(std::min<std::int64_t>(area.last_row, row + rows - 1));
    const AreaArgument argument(sheet, piece);
    ExcelValue cells = excel.value();
    const ReadOutcome result = outcome(excel.call(xlCoerce, cells, {argument()}));
    if (result != ReadOutcome::done) return result;
    // Whatever came must be the piece that was asked for: what reads it relies on that.
    const bool is_array = cells.type() == xltypeMulti;
    const std::size_t given = cells_in(*cells);
    if (given != rows_of(piece) * columns_of(piece) ||
        (is_array && static_cast<std::size_t>(cells->val.array.columns) != columns_of(piece))) {
      return ReadOutcome::failed;
    }
    take(std::move(cells));
  }
  return ReadOutcome::done;
}

bool is_uncalculated(const Excel& excel, const XLOPER12& argument) {
  const std::optional<Reference> reference = reference_of(argument);
  if (!reference) return false;
  XlArea cell = reference->areas[0];
  cell.last_row = cell.first_row;
  cell.last_column = cell.first_column;
  return read(excel, reference->sheet, cell, [](ExcelValue) {}) == ReadOutcome::uncalculated;
}

std::string sheet_name(const Excel& excel, std::uintptr_t sheet, const XlArea& area) {
  const AreaArgument argument(sheet, area);
  ExcelValue name = excel.value();
  if (excel.call(xlSheetNm, name, {argument()}) != xlretSuccess || name.type() != xltypeStr) return {};
  return formula::from_utf16(text_of(*name));
}

std::uintptr_t sheet_number(const Excel& excel) {
  ExcelValue sheet = excel.value();
  if (excel.call(xlSheetId, sheet, {}) != xlretSuccess || sheet.type() != xltypeRef) return 0;
  return sheet->val.mref.sheet;
}

}  // namespace glmhost::xll
