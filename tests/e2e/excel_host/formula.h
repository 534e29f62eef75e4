// As much of Excel's formulas as calls of functions need: literals, cells, ranges, unions in parentheses, nested calls
// and & between them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/e2e/excel_host/values.h"

namespace excel_host {

struct Corner {
  std::int32_t row = 0, column = 0;
  bool row_fixed = false, column_fixed = false;
};

struct Term {
  enum class Kind { literal, reference, several_sheets, call, joined, omitted };
  struct Area {
    Corner first, last;
    bool whole_columns = false, whole_rows = false;
  };

  Kind kind = Kind::omitted;
  CellValue value;              // literal
  int sheet = -1;               // reference: -1 is the formula's own
  std::vector<Area> areas;      // reference
  std::string name;             // call, upper case
  std::vector<Term> arguments;  // call, joined
  bool broken = false;          // reference to cells that were deleted: #REF!
};

// Throws Failure. Text without the "=".
Term parse_formula(std::string_view text);

std::string formula_text(const Term& term);

// "B2", "Sheet2!B2:C9", "A:A"; throws Failure.
Range parse_range(std::string_view text);

Range range_of(const Term& reference, const Term::Area& area, int own_sheet);

// Where the formula is filled so many rows and columns further: relative references move along.
void move_formula(Term& term, std::int32_t rows, std::int32_t columns);

// A row was put in before `row` of `sheet` (count 1), or taken out (count -1).
void shift_rows(Term& term, int own_sheet, int sheet, std::int32_t row, std::int32_t count);

void for_each_reference(const Term& term, const std::function<void(const Term& reference)>& see);

}  // namespace excel_host
