#include "excel-addin/xll/argument_reader.h"

#include <algorithm>
#include <span>
#include <utility>

#include "excel-addin/formula/text_units.h"

namespace glmhost::xll {
namespace {

using functions::Argument;

formula::Area area_of(const XlArea& area, std::string sheet) {
  return {static_cast<std::uint32_t>(area.first_row), static_cast<std::uint32_t>(area.first_column),
          static_cast<std::uint32_t>(area.last_row), static_cast<std::uint32_t>(area.last_column), std::move(sheet)};
}

// As the formula names it: a sheet of its own goes without saying.
std::string sheet_for(const Excel& excel, const Reference& reference, const Caller& caller) {
  if (reference.sheet == 0 || reference.sheet == caller.sheet) return {};
  return sheet_name(excel, reference.sheet, reference.areas[0]);
}

}  // namespace

ExcelBlock::ExcelBlock(const XLOPER12& value) {
  add(value);
}

ExcelBlock::ExcelBlock(std::vector<ExcelValue> pieces) : owned_(std::move(pieces)) {
  for (const ExcelValue& piece : owned_) add(*piece);
}

void ExcelBlock::add(const XLOPER12& value) {
  const bool is_array = (value.xltype & kTypeMask) == xltypeMulti;
  const auto rows = is_array ? static_cast<std::uint32_t>(value.val.array.rows) : 1u;
  columns_ = is_array ? static_cast<std::uint32_t>(value.val.array.columns) : 1u;
  pieces_.push_back({is_array ? value.val.array.cells : &value, rows_, rows});
  rows_ += rows;
}

std::span<const XLOPER12> ExcelBlock::run(std::uint32_t row, std::uint32_t rows) const {
  const auto piece = std::prev(std::ranges::upper_bound(pieces_, row, {}, &Piece::first_row));
  const std::uint32_t within = row - piece->first_row;
  const std::uint32_t count = std::min(rows, piece->rows - within);
  return {piece->cells + std::size_t{within} * columns_, std::size_t{count} * columns_};
}

formula::Value ExcelBlock::cell(std::uint32_t row, std::uint32_t column) const {
  return to_value(run(row, 1)[column]);
}

Caller find_caller(const Excel& excel) {
  Caller caller;
  ExcelValue value = excel.value();
  if (excel.call(xlfCaller, value, {}) != xlretSuccess) return caller;
  const std::optional<Reference> reference = reference_of(*value);
  if (!reference) return caller;
  caller.sheet = reference->sheet != 0 ? reference->sheet : sheet_number(excel);
  caller.cell.sheet = sheet_name(excel, reference->sheet, reference->areas[0]);
  caller.cell.row = static_cast<std::uint32_t>(reference->areas[0].first_row);
  caller.cell.column = static_cast<std::uint32_t>(reference->areas[0].first_column);
  return caller;
}

Argument place_of(const Excel& excel, const XLOPER12& value, const Caller& caller) {
  const std::optional<Reference> reference = reference_of(value);
  if (!reference) return Argument::of(to_value(value));
  std::string sheet = sheet_for(excel, *reference, caller);
  if (sheet.empty()) sheet = caller.cell.sheet;
  return Argument::reference(area_of(reference->areas[0], std::move(sheet)), nullptr);
}

ReadOutcome read_argument(const Excel& excel, const XLOPER12& value, const Caller& caller, Argument& argument) {
  if (!is_reference(value)) {
    if ((value.xltype & kTypeMask) == xltypeMissing) return ReadOutcome::done;
    if (cells_in(value) == 0) {
      argument = Argument::of(formula::ErrorCode::value);
    } else {
      argument.parts.push_back({std::nullopt, std::make_shared<ExcelBlock>(value), 0, 0});
    }
    return ReadOutcome::done;
  }
  const std::optional<Reference> reference = reference_of(value);
  if (!reference) {
    argument = Argument::of(formula::ErrorCode::reference);
    return ReadOutcome::done;
  }
  const std::string sheet = sheet_for(excel, *reference, caller);
  for (const XlArea& area : reference->areas) {
    XlArea used = area;
    bool empty = false;
    if (const ReadOutcome result = trim(excel, reference->sheet, used, empty); result != ReadOutcome::done)
      return result;
    std::shared_ptr<const ExcelBlock> block;
    if (!empty) {
      std::vector<ExcelValue> pieces;
      const ReadOutcome result =
          read(excel, reference->sheet, used, [&](ExcelValue piece) { pieces.push_back(std::move(piece)); });
      if (result != ReadOutcome::done) return result;
      block = std::make_shared<ExcelBlock>(std::move(pieces));
    }
    argument.parts.push_back({area_of(area, sheet), std::move(block), 0, 0});
  }
  return ReadOutcome::done;
}

}  // namespace glmhost::xll
