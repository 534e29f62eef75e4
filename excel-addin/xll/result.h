// A value on its way to Excel: one block of memory for the value, the cells of an array and all their texts. Excel
// gives it back by xlAutoFree12, once.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "excel-addin/formula/value.h"
#include "excel-addin/xll/excel_api.h"

namespace glmhost::xll {

// Frees what make_result() and ResultBuilder made. Nothing for a null pointer.
void free_result(XLOPER12* result);

struct FreeResult {
  void operator()(XLOPER12* result) const { free_result(result); }
};
using Result = std::unique_ptr<XLOPER12, FreeResult>;

// A text longer than a cell is cut there, never inside a character. An error that the C API has no number for is
// #VALUE!. An empty cell is what Excel makes of one: 0 in a formula of its own. An array larger than a sheet is #NUM!.
Result make_result(const formula::Value& value);

// An array of known size whose texts are known to need `text_units` UTF-16 units in all. Each cell is set once.
class ResultBuilder {
 public:
  // rows and columns are within a sheet's bounds and neither is 0.
  ResultBuilder(std::size_t rows, std::size_t columns, std::size_t text_units);

  // How many units set_text() will need for it.
  static std::size_t units_for(std::string_view utf8);

  void set_empty(std::size_t cell);
  void set_number(std::size_t cell, double number);
  void set_boolean(std::size_t cell, bool boolean);
  void set_error(std::size_t cell, formula::ErrorCode error);
  void set_text(std::size_t cell, std::string_view utf8);

  Result finish() { return std::move(result_); }

 private:
  Result result_;
  XLOPER12* cells_;
  XlChar* next_text_;
};

std::int32_t error_number(formula::ErrorCode error);
formula::ErrorCode error_of(std::int32_t number);  // unknown numbers are #VALUE!

}  // namespace glmhost::xll
