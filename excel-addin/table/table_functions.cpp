#include "excel-addin/table/table_functions.h"

#include <set>
#include <vector>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/evaluator.h"
#include "excel-addin/formula/text_units.h"

namespace glmhost::table {
namespace {

using formula::Arguments;
using formula::ErrorCode;
using formula::Function;
using formula::Trait;
using formula::Value;

Value count(Arguments& a) {
  if (a.size() == 0) return ErrorCode::value;
  return formula::call(*formula::find_function("COUNT"), a.from(0), a.context());
}

Value first(Arguments& a) {
  for (const Value& cell : formula::cells_of(a[0])) {
    if (!cell.is_empty()) return cell;
  }
  return {};
}

Value last(Arguments& a) {
  const auto cells = formula::cells_of(a[0]);
  for (auto cell = cells.rbegin(); cell != cells.rend(); ++cell) {
    if (!cell->is_empty()) return *cell;
  }
  return {};
}

Value count_distinct(Arguments& a) {
  std::set<std::pair<int, std::string>> texts;
  std::set<double> numbers;
  for (const Value& cell : formula::cells_of(a[0])) {
    if (cell.is_error()) return cell;
    if (cell.is_number()) numbers.insert(cell.number());
    if (cell.is_text()) texts.emplace(0, formula::folded(cell.text()));
    if (cell.is_boolean()) texts.emplace(1, cell.boolean() ? "1" : "0");
  }
  return Value(static_cast<double>(texts.size() + numbers.size()));
}

// Pairs in which both are numbers.
Value weighted_average(Arguments& a) {
  const auto values = formula::cells_of(a[0]), weights = formula::cells_of(a[1]);
  if (values.size() != weights.size()) return ErrorCode::not_available;
  formula::CompensatedSum sum, all;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_error()) return values[i];
    if (weights[i].is_error()) return weights[i];
    if (!values[i].is_number() || !weights[i].is_number()) continue;
    sum.add(values[i].number() * weights[i].number());
    all.add(weights[i].number());
  }
  return all.value() == 0 ? Value(ErrorCode::division) : formula::finite(sum.value() / all.value());
}

// The window stage computes these itself.
Value of_the_stage(Arguments&) {
  return ErrorCode::value;
}

constexpr Trait kAggregate = Trait::aggregate;

const Function kOfTables[] = {
    {"COUNT", "[*value1], [*value2], ...", "Counts rows, or the numbers among the values.", count, kAggregate},
    {"FIRST", "*values", "The first cell that is not empty.", first, kAggregate},
    {"LAST", "*values", "The last cell that is not empty.", last, kAggregate},
    {"COUNTDISTINCT", "*values", "Counts different values; empty cells do not count.", count_distinct, kAggregate},
    {"WEIGHTEDAVERAGE", "*values, *weights", "The average with weights.", weighted_average, kAggregate},
};

const Function kOfWindows[] = {
    {"ROWNUMBER", "", "1, 2, 3, ... in the order of the window.", of_the_stage, kAggregate},
    {"RANK", "", "The place in the order; equal rows share the best one.", of_the_stage, kAggregate},
    {"DENSERANK", "", "As RANK, without gaps behind equal rows.", of_the_stage, kAggregate},
    {"NTILE", "buckets", "The bucket, from 1, when the rows are dealt into so many of nearly equal size.", of_the_stage,
     kAggregate},
    {"LAG", "*value, [rows], [default]", "The value some rows ahead.", of_the_stage, kAggregate},
    {"LEAD", "*value, [rows], [default]", "The value some rows behind.", of_the_stage, kAggregate},
};

}  // namespace

std::span<const Function> table_functions() {
  static const std::vector<Function> rows = formula::function_rows(kOfTables, formula::Family::statistics);
  return rows;
}

std::span<const Function> window_functions() {
  static const std::vector<Function> rows = [] {
    std::vector<Function> all(std::begin(kOfTables), std::end(kOfTables));
    all.insert(all.end(), std::begin(kOfWindows), std::end(kOfWindows));
    return formula::function_rows(all, formula::Family::statistics);
  }();
  return rows;
}

}  // namespace glmhost::table
