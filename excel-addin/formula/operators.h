// Excel's operators on values. Arrays are combined cell by cell: a single row, column or value is repeated to the size
// of the other side, and cells that only one side has are #N/A.
//
// Dates: a date plus or minus a number is a date; a date minus a date, and all other arithmetic, is a plain number.
#pragma once

#include <functional>
#include <span>

#include "excel-addin/formula/syntax_tree.h"
#include "excel-addin/formula/value.h"

namespace glmhost::formula {

Value apply(Operator op, const Value& operand, std::size_t most_cells);
Value apply(Operator op, const Value& left, const Value& right, std::size_t most_cells);

// An addition or subtraction whose result is a rounding error of its operands, as 0.5-0.4-0.1, is 0: Excel does so for
// the last operation of a formula.
double snapped_to_zero(double result, double left, double right);

// Runs `scalar` for each cell of the arrays among the values; where `whole(i)` holds, value i is handed over as it is.
Value lifted(std::span<const Value> values, const std::function<bool(std::size_t)>& whole, std::size_t most_cells,
             const std::function<Value(std::span<const Value>)>& scalar);

}  // namespace glmhost::formula
