// Functions that run another function over a part of their cells: SUBTOTAL, AGGREGATE and the database functions.
#include <algorithm>
#include <cmath>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/criterion.h"
#include "excel-addin/formula/evaluator.h"
#include "excel-addin/formula/families.h"
#include "excel-addin/formula/text_units.h"

namespace glmhost::formula {
namespace {

Value run(Arguments& a, std::string_view name, std::span<const Value> values) {
  return call(*find_function(name), values, a.context());
}

// SUBTOTAL's and AGGREGATE's numbers, from 1.
constexpr std::string_view kTotals[] = {"AVERAGE",        "COUNT",        "COUNTA",         "MAX",         "MIN",
                                        "PRODUCT",        "STDEV.S",      "STDEV.P",        "SUM",         "VAR.S",
                                        "VAR.P",          "MEDIAN",       "MODE.SNGL",      "LARGE",       "SMALL",
                                        "PERCENTILE.INC", "QUARTILE.INC", "PERCENTILE.EXC", "QUARTILE.EXC"};

Value subtotal(Arguments& a) {
  double number = a.whole(0);
  if (a.error()) return *a.error();
  if (number > 100) number -= 100;  // the same without hidden rows, of which there are none here
  constexpr double kLast = 11;
  if (number < 1 || number > kLast) return ErrorCode::value;
  return run(a, kTotals[static_cast<std::size_t>(number) - 1], a.from(1));
}

Value without_errors(const Value& value) {
  if (!value.is_array()) return value.is_error() ? Value() : value;
  std::vector<Value> cells;
  for (const Value& cell : value.array().cells()) {
    if (!cell.is_error()) cells.push_back(cell);
  }
  if (cells.empty()) return Value(Array(1, 1));
  const std::size_t size = cells.size();
  return Value(Array(size, 1, std::move(cells)));
}

// (function, options, cells, [k] or more cells). Options 2, 3, 6 and 7 leave errors out.
Value aggregate(Arguments& a) {
  const double number = a.whole(0), options = a.whole(1);
  if (a.error()) return *a.error();
  if (number < 1 || number > 19 || options < 0 || options > 7) return ErrorCode::value;
  constexpr double kFirstWithK = 14;
  if (number >= kFirstWithK && a.size() != 4) return ErrorCode::value;
  const bool skips_errors = options == 2 || options == 3 || options >= 6;
  std::vector<Value> values(a.from(2).begin(), a.from(2).end());
  const std::size_t cells = number >= kFirstWithK ? 1 : values.size();
  for (std::size_t i = 0; i < cells && skips_errors; ++i) values[i] = without_errors(values[i]);
  return run(a, kTotals[static_cast<std::size_t>(number) - 1], values);
}

Value percentof(Arguments& a) {
  const double part = sum_of(numbers_in(a, a[0])), all = sum_of(numbers_in(a, a[1]));
  return all == 0 ? Value(ErrorCode::division) : finite(part / all);
}

// --- Database functions: (table with headings, column, criteria with headings).

std::optional<std::size_t> column_named(const Value& table, const std::string& name) {
  for (std::size_t column = 0; column < columns_of(table); ++column) {
    const auto heading = to_text(cell_of(table, 0, column));
    if (heading && equal_without_case(*heading, name)) return column;
  }
  return std::nullopt;
}

// The rows for which all criteria of one row of criteria hold. A text without an operator is a beginning here.
std::vector<std::size_t> matching_rows(Arguments& a) {
  struct Condition {
    std::size_t column;
    Criterion criterion;
  };
  std::vector<std::vector<Condition>> alternatives;
  for (std::size_t row = 1; row < rows_of(a[2]); ++row) {
    std::vector<Condition> conditions;
    for (std::size_t column = 0; column < columns_of(a[2]); ++column) {
      const Value& cell = cell_of(a[2], row, column);
      const auto heading = to_text(cell_of(a[2], 0, column));
      const auto place = heading ? column_named(a[0], *heading) : std::nullopt;
      if (cell.is_empty() || !place) continue;
      const bool is_beginning = cell.is_text() && cell.text().find_first_of("<>=") != 0;
      conditions.push_back({*place, Criterion(is_beginning ? Value(cell.text() + "*") : cell)});
    }
    alternatives.push_back(std::move(conditions));
  }
  std::vector<std::size_t> rows;
  for (std::size_t row = 1; row < rows_of(a[0]); ++row) {
    const auto holds = [&](const Condition& each) { return each.criterion.holds(cell_of(a[0], row, each.column)); };
    if (std::ranges::any_of(alternatives, [&](const auto& all) { return std::ranges::all_of(all, holds); }))
      rows.push_back(row);
  }
  return rows;
}

// The cells of the column in those rows; nothing when no column is named, and all its rows count.
std::optional<Value> picked(Arguments& a) {
  a.check(a[1]);
  if (!a[0].is_array() || !a[2].is_array()) a.fail(ErrorCode::value);
  if (a.error()) return std::nullopt;
  std::optional<std::size_t> column;
  const Value& field = a[1].scalar();
  if (field.is_text()) {
    column = column_named(a[0], field.text());
  } else if (const double number = a.whole(1); number >= 1 && number <= static_cast<double>(columns_of(a[0]))) {
    column = static_cast<std::size_t>(number) - 1;
  }
  if (!column) {
    a.fail(ErrorCode::value);
    return std::nullopt;
  }
  std::vector<Value> cells;
  for (const std::size_t row : matching_rows(a)) cells.push_back(cell_of(a[0], row, *column));
  if (cells.empty()) return Value(Array(1, 1));
  const std::size_t size = cells.size();
  return Value(Array(size, 1, std::move(cells)));
}

Value run_on_picked(Arguments& a, std::string_view name) {
  const auto cells = picked(a);
  return cells ? run(a, name, {&*cells, 1}) : Value(ErrorCode::value);
}

Value dsum(Arguments& a) {
  return run_on_picked(a, "SUM");
}
Value daverage(Arguments& a) {
  return run_on_picked(a, "AVERAGE");
}
Value dcount(Arguments& a) {
  return a.given(1) ? run_on_picked(a, "COUNT") : Value(static_cast<double>(matching_rows(a).size()));
}
Value dcounta(Arguments& a) {
  return a.given(1) ? run_on_picked(a, "COUNTA") : Value(static_cast<double>(matching_rows(a).size()));
}
Value dmax(Arguments& a) {
  return run_on_picked(a, "MAX");
}
Value dmin(Arguments& a) {
  return run_on_picked(a, "MIN");
}
Value dproduct(Arguments& a) {
  return run_on_picked(a, "PRODUCT");
}
Value dstdev(Arguments& a) {
  return run_on_picked(a, "STDEV.S");
}
Value dstdevp(Arguments& a) {
  return run_on_picked(a, "STDEV.P");
}
Value dvar(Arguments& a) {
  return run_on_picked(a, "VAR.S");
}
Value dvarp(Arguments& a) {
  return run_on_picked(a, "VAR.P");
}
Value dget(Arguments& a) {
  const auto cells = picked(a);
  if (!cells) return ErrorCode::value;
  if (cells->array().size() > 1) return ErrorCode::number;
  const Value& only = cells->scalar();
  return only.is_empty() ? Value(ErrorCode::value) : only;
}

constexpr Trait kAggregate = Trait::aggregate;
constexpr Function kFunctions[] = {
    {"SUBTOTAL", "function, *cells1, [*cells2], ...", "A total by number: 1 AVERAGE, 2 COUNT, 9 SUM, ...", subtotal,
     kAggregate},
    {"AGGREGATE", "function, options, *cells1, [*cells2], ...", "A total by number that can leave errors out.",
     aggregate, kAggregate},
    {"PERCENTOF", "*part, *all", "The part of a sum that other cells make.", percentof, kAggregate},
    {"DSUM", "*table, field, *criteria", "The sum of a column where criteria hold.", dsum},
    {"DAVERAGE", "*table, field, *criteria", "The mean of a column where criteria hold.", daverage},
    {"DCOUNT", "*table, field, *criteria", "Counts numbers where criteria hold.", dcount},
    {"DCOUNTA", "*table, field, *criteria", "Counts values where criteria hold.", dcounta},
    {"DMAX", "*table, field, *criteria", "The largest where criteria hold.", dmax},
    {"DMIN", "*table, field, *criteria", "The least where criteria hold.", dmin},
    {"DPRODUCT", "*table, field, *criteria", "The product where criteria hold.", dproduct},
    {"DSTDEV", "*table, field, *criteria", "The sample's standard deviation where criteria hold.", dstdev},
    {"DSTDEVP", "*table, field, *criteria", "The population's standard deviation where criteria hold.", dstdevp},
    {"DVAR", "*table, field, *criteria", "The sample's variance where criteria hold.", dvar},
    {"DVARP", "*table, field, *criteria", "The population's variance where criteria hold.", dvarp},
    {"DGET", "*table, field, *criteria", "The only value where criteria hold.", dget},
};

}  // namespace

std::span<const Function> summary_functions() {
  return kFunctions;
}

}  // namespace glmhost::formula
