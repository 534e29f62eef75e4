// What a worksheet function is given, without Excel's types.
//
// Cells are read through CellBlock, so that an adaptor over Excel's own array copies nothing before a cell is asked
// for. Cells keep their meaning: an empty cell is an empty Value, "" is a text of length 0, a date is a number whose
// kind says so, an error is an error. Texts are UTF-8; an unpaired surrogate has become U+FFFD.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "excel-addin/formula/value.h"

namespace glmhost::functions {

using formula::Value;

// A rectangle of cells, zero-based. Must stay readable, unchanged, as long as the call lasts, and no longer.
class CellBlock {
 public:
  virtual ~CellBlock() = default;
  virtual std::uint32_t rows() const = 0;
  virtual std::uint32_t columns() const = 0;
  virtual Value cell(std::uint32_t row, std::uint32_t column) const = 0;
};

// The cells of a value: those of an array, or the value as one cell.
class ValueBlock final : public CellBlock {
 public:
  explicit ValueBlock(Value value) : value_(std::move(value)) {}
  std::uint32_t rows() const override { return static_cast<std::uint32_t>(formula::rows_of(value_)); }
  std::uint32_t columns() const override { return static_cast<std::uint32_t>(formula::columns_of(value_)); }
  Value cell(std::uint32_t row, std::uint32_t column) const override { return formula::cell_of(value_, row, column); }

 private:
  Value value_;
};

// One area of an argument.
struct Part {
  // Where it lies, when it is a reference, as the formula names it: a whole column is a million rows.
  std::optional<formula::Area> area;
  // Its used cells, which begin at area's row + row_offset, column + column_offset. Null: no cell of it is used.
  std::shared_ptr<const CellBlock> cells;
  std::uint32_t row_offset = 0, column_offset = 0;
};

// No parts: left out. One: a value, an array or a reference. Several: a union of areas.
struct Argument {
  std::vector<Part> parts;

  bool is_omitted() const { return parts.empty(); }

  static Argument of(Value value);  // a value typed into the formula, or an array without a place
  static Argument reference(formula::Area area, std::shared_ptr<const CellBlock> used, std::uint32_t row_offset = 0,
                            std::uint32_t column_offset = 0);
};

// The cell that a formula stands in: tells what it showed before, and what GLM.STATUS and GLM.ERROR are asked about.
struct Cell {
  std::string sheet;  // "[Book1]Sheet1"; empty: not called from a cell, nothing is remembered
  std::uint32_t row = 0, column = 0;

  bool operator==(const Cell&) const = default;
  bool is_known() const { return !sheet.empty(); }
};

}  // namespace glmhost::functions
