// Excel's arguments as those of the worksheet functions: nothing is copied before a cell is asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "excel-addin/functions/argument.h"
#include "excel-addin/xll/arguments.h"

namespace glmhost::xll {

// Cells that Excel passed, or gave for a reference. Excel's memory is read where it lies.
class ExcelBlock final : public functions::CellBlock {
 public:
  // Borrowed: the argument of the call, an array or a single value. Not of damaged arrays.
  explicit ExcelBlock(const XLOPER12& value);
  // Owned: pieces of the same width, from the top.
  explicit ExcelBlock(std::vector<ExcelValue> pieces);

  std::uint32_t rows() const override { return rows_; }
  std::uint32_t columns() const override { return columns_; }
  formula::Value cell(std::uint32_t row, std::uint32_t column) const override;

  // The cells of so many rows from `row` on, row by row; fewer where a piece of Excel's memory ends.
  std::span<const XLOPER12> run(std::uint32_t row, std::uint32_t rows) const;

 private:
  struct Piece {
    const XLOPER12* cells;
    std::uint32_t first_row, rows;
  };
  void add(const XLOPER12& value);

  std::vector<ExcelValue> owned_;
  std::vector<Piece> pieces_;
  std::uint32_t rows_ = 0, columns_ = 0;
};

// Where a formula stands.
struct Caller {
  functions::Cell cell;      // not known: a macro, a conditional format, ...
  std::uintptr_t sheet = 0;  // Excel's number of it
};
Caller find_caller(const Excel& excel);

// The argument, with its used cells read when it is a reference. A damaged one is #VALUE! or #REF!.
ReadOutcome read_argument(const Excel& excel, const XLOPER12& value, const Caller& caller,
                          functions::Argument& argument);

// A reference without its cells, with the full name of its sheet: a cell that is asked about.
functions::Argument place_of(const Excel& excel, const XLOPER12& value, const Caller& caller);

}  // namespace glmhost::xll
