#include <algorithm>
#include <cmath>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/families.h"
#include "excel-addin/formula/regex.h"
#include "excel-addin/formula/search.h"
#include "excel-addin/formula/text_units.h"
#include "excel-addin/formula/wildcard.h"

namespace glmhost::formula {
namespace {

// What is looked for; an empty cell counts as 0. Notes an error.
Value key(Arguments& a, std::size_t i) {
  a.check(a[i]);
  const Value& value = a[i].scalar();
  return value.is_empty() ? Value(0.0) : value;
}

// Keeps the place of its cells when the rectangle is part of a read area.
Value part(const Value& value, std::size_t row, std::size_t column, std::size_t rows, std::size_t columns) {
  Array cells(rows, columns);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) cells(r, c) = cell_of(value, row + r, column + c);
  }
  if (const Area* area = value.area()) {
    const auto first_row = area->first_row + static_cast<std::uint32_t>(row);
    const auto first_column = area->first_column + static_cast<std::uint32_t>(column);
    cells.set_area({first_row, first_column, first_row + static_cast<std::uint32_t>(rows) - 1,
                    first_column + static_cast<std::uint32_t>(columns) - 1, area->sheet});
  } else if (rows == 1 && columns == 1) {
    return Value(cells[0]);
  }
  return Value(std::move(cells));
}

// VLOOKUP and its like give a value, no reference: an empty cell becomes 0.
Value shown(const Value& cell) {
  return cell.is_empty() ? Value(0.0) : cell;
}

std::optional<Vector> as_vector(const Value& value) {
  if (rows_of(value) == 1) return Vector::row(value, 0);
  if (columns_of(value) == 1) return Vector::column(value, 0);
  return std::nullopt;
}

Value match(Arguments& a) {
  const Value wanted = key(a, 0);
  const double type = a.has(2) ? a.number(2) : 1;
  if (a.error()) return *a.error();
  if (!a[1].is_array()) a.check(a[1]);
  const auto cells = as_vector(a[1]);
  if (!cells) return ErrorCode::not_available;
  // A pattern is matched whatever the order.
  const bool is_pattern = wanted.is_text() && Wildcard(wanted.text()).has_wildcards();
  if (is_pattern && type != 0) {
    if (const auto found = find_exact(wanted, *cells, true)) return static_cast<double>(*found) + 1;
  }
  const auto found = type == 0  ? find_exact(wanted, *cells, true)
                     : type > 0 ? find_in_ascending(wanted, *cells)
                                : find_in_descending(wanted, *cells);
  return found ? Value(static_cast<double>(*found) + 1) : Value(ErrorCode::not_available);
}

// XMATCH's and XLOOKUP's modes.
std::optional<std::size_t> find_by_modes(Arguments& a, const Value& wanted, const Vector& cells, double match_mode,
                                         double search_mode) {
  const auto is_one_of = [](double value, std::initializer_list<double> allowed) {
    return std::ranges::find(allowed, value) != allowed.end();
  };
  if (!is_one_of(match_mode, {-1, 0, 1, 2, 3}) || !is_one_of(search_mode, {-2, -1, 1, 2})) {
    a.fail(ErrorCode::value);
    return std::nullopt;
  }
  const auto mode = static_cast<MatchMode>(match_mode);
  const bool bisects = std::abs(search_mode) == 2, backwards = search_mode < 0;
  if (mode == MatchMode::wildcard || mode == MatchMode::regex) {
    if (bisects) a.fail(ErrorCode::value);
    if (bisects) return std::nullopt;
    if (mode == MatchMode::wildcard || !wanted.is_text())
      return find_exact(wanted, cells, mode == MatchMode::wildcard, backwards);
    Regex regex(valid_utf8(wanted.text()), false);
    if (!regex.valid()) a.fail(ErrorCode::value);
    for (std::size_t k = 0; k < cells.size() && regex.valid() && !regex.gave_up(); ++k) {
      const std::size_t i = backwards ? cells.size() - 1 - k : k;
      if (cells[i].is_text() && !regex.match(valid_utf8(cells[i].text())).empty()) return i;
    }
    return std::nullopt;
  }
  if (bisects) return find_by_bisection(wanted, cells, mode, backwards);
  return find_nearest(wanted, cells, mode, backwards);
}

Value xmatch(Arguments& a) {
  const Value wanted = a[0].is_empty() ? Value() : key(a, 0);
  const double match_mode = a.whole_or(2, 0), search_mode = a.whole_or(3, 1);
  if (!a[1].is_array()) a.check(a[1]);
  if (a.error()) return *a.error();
  const auto cells = as_vector(a[1]);
  if (!cells) return ErrorCode::value;
  const auto found = find_by_modes(a, wanted, *cells, match_mode, search_mode);
  return found ? Value(static_cast<double>(*found) + 1) : Value(ErrorCode::not_available);
}

// (wanted, lookup_array, return_array, if_not_found, match_mode, search_mode)
Value xlookup(Arguments& a) {
  const Value wanted = a[0].is_empty() ? Value() : key(a, 0);
  const double match_mode = a.whole_or(4, 0), search_mode = a.whole_or(5, 1);
  if (!a[1].is_array()) a.check(a[1]);
  if (!a[2].is_array()) a.check(a[2]);
  if (a.error()) return *a.error();
  const auto cells = as_vector(a[1]);
  if (!cells) return ErrorCode::value;
  const bool by_columns = rows_of(a[1]) == 1 && columns_of(a[1]) > 1;
  if (cells->size() != (by_columns ? columns_of(a[2]) : rows_of(a[2]))) return a.fail(ErrorCode::value);
  const auto found = find_by_modes(a, wanted, *cells, match_mode, search_mode);
  if (!found) return a.given(3) ? a[3] : Value(ErrorCode::not_available);
  return by_columns ? part(a[2], 0, *found, rows_of(a[2]), 1) : part(a[2], *found, 0, 1, columns_of(a[2]));
}

// VLOOKUP and HLOOKUP: (wanted, table, index, approximate).
Value lookup_in_table(Arguments& a, bool by_columns) {
  const Value wanted = key(a, 0);
  if (!a[1].is_array()) a.check(a[1]);
  const double index = a.whole(2);
  const bool approximate = a.has(3) ? a.boolean(3) : true;
  if (a.error()) return *a.error();
  if (index < 1 || a[1].is_text()) return ErrorCode::value;
  if (index > static_cast<double>(by_columns ? rows_of(a[1]) : columns_of(a[1]))) return ErrorCode::reference;
  const Vector keys = by_columns ? Vector::row(a[1], 0) : Vector::column(a[1], 0);
  const auto found = approximate ? find_in_ascending(wanted, keys) : find_exact(wanted, keys, true);
  if (!found) return ErrorCode::not_available;
  const auto place = static_cast<std::size_t>(index) - 1;
  return by_columns ? shown(cell_of(a[1], place, *found)) : shown(cell_of(a[1], *found, place));
}
Value vlookup(Arguments& a) {
  return lookup_in_table(a, false);
}
Value hlookup(Arguments& a) {
  return lookup_in_table(a, true);
}

Value lookup(Arguments& a) {
  const Value wanted = key(a, 0);
  if (!a[1].is_array()) a.check(a[1]);
  if (a.error()) return *a.error();
  const std::size_t rows = rows_of(a[1]), columns = columns_of(a[1]);
  const bool by_columns = columns > rows;
  const Vector keys = by_columns ? Vector::row(a[1], 0) : Vector::column(a[1], 0);
  const auto found = find_in_ascending(wanted, keys);
  if (a.has(2)) {
    if (!a[2].is_array()) a.check(a[2]);
    const auto results = as_vector(a[2]);
    if (!results || !found || *found >= results->size()) return ErrorCode::not_available;
    return shown((*results)[*found]);
  }
  if (!found) return ErrorCode::not_available;
  return by_columns ? shown(cell_of(a[1], rows - 1, *found)) : shown(cell_of(a[1], *found, columns - 1));
}

// (array, row, column); 0 takes all. A vector takes one index.
Value index(Arguments& a) {
  if (!a[0].is_array()) a.check(a[0]);
  const std::size_t rows = rows_of(a[0]), columns = columns_of(a[0]);
  double row = a.whole(1), column = a.whole(2);
  if (!a.has(2) && rows == 1 && columns > 1) std::swap(row, column);
  const double area = a.whole_or(3, 1);
  if (a.error()) return *a.error();
  if (row < 0 || column < 0) return ErrorCode::value;
  if (row > static_cast<double>(rows) || column > static_cast<double>(columns) || area != 1)
    return ErrorCode::reference;
  const auto r = static_cast<std::size_t>(row), c = static_cast<std::size_t>(column);
  return part(a[0], r == 0 ? 0 : r - 1, c == 0 ? 0 : c - 1, r == 0 ? rows : 1, c == 0 ? columns : 1);
}

Value rows(Arguments& a) {
  if (!a[0].is_array()) a.check(a[0]);
  const Area* area = a[0].area();
  return area != nullptr ? static_cast<double>(area->rows()) : static_cast<double>(rows_of(a[0]));
}
Value columns(Arguments& a) {
  if (!a[0].is_array()) a.check(a[0]);
  const Area* area = a[0].area();
  return area != nullptr ? static_cast<double>(area->columns()) : static_cast<double>(columns_of(a[0]));
}

// ROW and COLUMN: the places of the cells, or of the formula's own.
Value place_of_cells(Arguments& a, bool by_columns) {
  if (a.given(0)) a.check(a[0].is_array() ? Value() : a[0]);
  const Area* area = a.given(0) ? a[0].area() : a.context().own_cell ? &*a.context().own_cell : nullptr;
  if (area == nullptr) return a.fail(ErrorCode::value);
  const std::size_t count = by_columns ? area->columns() : area->rows();
  const double first = static_cast<double>(by_columns ? area->first_column : area->first_row) + 1;
  Array places(by_columns ? 1 : count, by_columns ? count : 1);
  for (std::size_t i = 0; i < count; ++i) places[i] = Value(first + static_cast<double>(i));
  return Value(std::move(places));
}
Value row(Arguments& a) {
  return place_of_cells(a, false);
}
Value column(Arguments& a) {
  return place_of_cells(a, true);
}

constexpr Function kFunctions[] = {
    {"MATCH", "wanted, *cells, [match_type]", "The place of a value in a row or column.", match},
    {"XMATCH", "wanted, *cells, [match_mode], [search_mode]", "The place of a value in a row or column.", xmatch},
    {"VLOOKUP", "wanted, *table, column, [approximate]", "Finds a value in the first column; gives a cell of its row.",
     vlookup},
    {"HLOOKUP", "wanted, *table, row, [approximate]", "Finds a value in the first row; gives a cell of its column.",
     hlookup},
    {"LOOKUP", "wanted, *cells, [*results]", "Finds a value in a sorted row or column.", lookup},
    {"XLOOKUP", "wanted, *cells, *results, [*if_not_found], [match_mode], [search_mode]",
     "Finds a value and gives what lies at its place.", xlookup},
    {"INDEX", "*array, row, [column], [area]", "The cell at a row and column.", index},
    {"ROWS", "*array", "The number of rows.", rows},
    {"COLUMNS", "*array", "The number of columns.", columns},
    {"ROW", "[*reference]", "The row's number.", row},
    {"COLUMN", "[*reference]", "The column's number.", column},
};

}  // namespace

std::span<const Function> lookup_functions() {
  return kFunctions;
}

}  // namespace glmhost::formula
