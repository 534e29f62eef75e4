#include "excel-addin/xll/result.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "excel-addin/formula/text_units.h"

namespace glmhost::xll {
namespace {

using formula::ErrorCode;

constexpr std::array<std::pair<ErrorCode, std::int32_t>, 8> kErrors = {{
    {ErrorCode::null, xlerrNull},
    {ErrorCode::division, xlerrDiv0},
    {ErrorCode::value, xlerrValue},
    {ErrorCode::reference, xlerrRef},
    {ErrorCode::name, xlerrName},
    {ErrorCode::number, xlerrNum},
    {ErrorCode::not_available, xlerrNA},
    {ErrorCode::getting_data, xlerrGettingData},
}};

bool is_high_half(char16_t unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}

std::size_t cut_to_cell(std::u16string_view text) {
  if (text.size() <= kMostCharacters) return text.size();
  return is_high_half(text[kMostCharacters - 1]) ? kMostCharacters - 1 : kMostCharacters;
}

// Writes the length and the text; where the next one may begin.
XlChar* put_text(XlChar* at, std::u16string_view text) {
  const std::size_t length = cut_to_cell(text);
  at[0] = static_cast<XlChar>(length);
  std::copy_n(text.data(), length, at + 1);
  return at + 1 + length;
}

Result allocate(std::size_t cells, std::size_t text_units) {
  void* memory = std::malloc(sizeof(XLOPER12) * (1 + cells) + sizeof(XlChar) * text_units);
  if (memory == nullptr) throw std::bad_alloc();
  Result result(static_cast<XLOPER12*>(memory));
  std::memset(result.get(), 0, sizeof(XLOPER12));
  return result;
}

Result make_scalar(const formula::Value& value) {
  if (value.is_text()) {
    const std::u16string text = formula::to_utf16(value.text());
    Result result = allocate(0, 1 + cut_to_cell(text));
    XlChar* at = reinterpret_cast<XlChar*>(result.get() + 1);
    put_text(at, text);
    result->val.str = at;
    result->xltype = xltypeStr | xlbitDLLFree;
    return result;
  }
  Result result = allocate(0, 0);
  result->xltype = xltypeNil;
  if (value.is_boolean()) {
    result->val.boolean = value.boolean() ? 1 : 0;
    result->xltype = xltypeBool;
  } else if (value.is_error()) {
    result->val.err = error_number(value.error());
    result->xltype = xltypeErr;
  } else if (value.is_number()) {
    // Excel has no such number, and shows whatever the bits happen to mean.
    const bool finite = std::isfinite(value.number());
    if (finite) {
      result->val.num = value.number();
    } else {
      result->val.err = xlerrNum;
    }
    result->xltype = finite ? xltypeNum : xltypeErr;
  }
  result->xltype |= xlbitDLLFree;
  return result;
}

}  // namespace

void free_result(XLOPER12* result) {
  std::free(result);
}

std::int32_t error_number(ErrorCode error) {
  for (const auto& [code, number] : kErrors) {
    if (code == error) return number;
  }
  return xlerrValue;
}

ErrorCode error_of(std::int32_t number) {
  for (const auto& [code, known] : kErrors) {
    if (known == number) return code;
  }
  return ErrorCode::value;
}

ResultBuilder::ResultBuilder(std::size_t rows, std::size_t columns, std::size_t text_units)
    : result_(allocate(rows * columns, text_units)),
      cells_(result_.get() + 1),
      next_text_(reinterpret_cast<XlChar*>(cells_ + rows * columns)) {
  result_->val.array.cells = cells_;
  result_->val.array.rows = static_cast<std::int32_t>(rows);
  result_->val.array.columns = static_cast<std::int32_t>(columns);
  result_->xltype = xltypeMulti | xlbitDLLFree;
  for (std::size_t i = 0; i < rows * columns; ++i) cells_[i].xltype = xltypeNil;
}

std::size_t ResultBuilder::units_for(std::string_view utf8) {
  // No character has more units than bytes, so a short text cannot be cut.
  if (utf8.size() <= kMostCharacters) return 1 + formula::length_in_units(utf8);
  return 1 + cut_to_cell(formula::to_utf16(utf8));
}

void ResultBuilder::set_empty(std::size_t cell) {
  cells_[cell].xltype = xltypeNil;
}

void ResultBuilder::set_number(std::size_t cell, double number) {
  if (!std::isfinite(number)) return set_error(cell, ErrorCode::number);
  cells_[cell].val.num = number;
  cells_[cell].xltype = xltypeNum;
}

void ResultBuilder::set_boolean(std::size_t cell, bool boolean) {
  cells_[cell].val.boolean = boolean ? 1 : 0;
  cells_[cell].xltype = xltypeBool;
}

void ResultBuilder::set_error(std::size_t cell, ErrorCode error) {
  cells_[cell].val.err = error_number(error);
  cells_[cell].xltype = xltypeErr;
}

void ResultBuilder::set_text(std::size_t cell, std::string_view utf8) {
  cells_[cell].val.str = next_text_;
  cells_[cell].xltype = xltypeStr;
  next_text_ = put_text(next_text_, formula::to_utf16(utf8));
}

Result make_result(const formula::Value& value) {
  if (!value.is_array()) return make_scalar(value);
  const formula::Array& array = value.array();
  if (array.size() == 0) return make_scalar(ErrorCode::calculation);
  if (array.rows() > static_cast<std::size_t>(kMostRows) || array.columns() > static_cast<std::size_t>(kMostColumns)) {
    return make_scalar(ErrorCode::number);
  }
  std::size_t units = 0;
  for (const formula::Value& each : array.cells()) {
    const formula::Value& cell = each.scalar();
    if (cell.is_text()) units += ResultBuilder::units_for(cell.text());
  }
  ResultBuilder builder(array.rows(), array.columns(), units);
  for (std::size_t i = 0; i < array.size(); ++i) {
    const formula::Value& cell = array[i].scalar();
    switch (cell.type()) {
      case formula::Type::number:
        builder.set_number(i, cell.number());
        break;
      case formula::Type::text:
        builder.set_text(i, cell.text());
        break;
      case formula::Type::boolean:
        builder.set_boolean(i, cell.boolean());
        break;
      case formula::Type::error:
        builder.set_error(i, cell.error());
        break;
      default:
        break;
    }
  }
  return builder.finish();
}

}  // namespace glmhost::xll
