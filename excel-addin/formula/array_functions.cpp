// Functions that make arrays out of arrays.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/families.h"

namespace glmhost::formula {
namespace {

// Rows (or columns) of an array, by index.
class Lines {
 public:
  Lines(const Value& value, bool columns) : value_(value), columns_(columns) {}
  std::size_t size() const { return columns_ ? columns_of(value_) : rows_of(value_); }
  std::size_t length() const { return columns_ ? rows_of(value_) : columns_of(value_); }
  const Value& operator()(std::size_t line, std::size_t at) const {
    return columns_ ? cell_of(value_, at, line) : cell_of(value_, line, at);
  }
  // The lines with these numbers as an array; #CALC! when there are none.
  Value pick(const std::vector<std::size_t>& lines) const {
    if (lines.empty()) return ErrorCode::calculation;
    Array result(columns_ ? length() : lines.size(), columns_ ? lines.size() : length());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      for (std::size_t k = 0; k < length(); ++k) (columns_ ? result(k, i) : result(i, k)) = (*this)(lines[i], k);
    }
    return Value(std::move(result));
  }

 private:
  const Value& value_;
  bool columns_;
};

std::vector<std::size_t> all_lines(std::size_t size) {
  std::vector<std::size_t> lines(size);
  std::iota(lines.begin(), lines.end(), std::size_t{0});
  return lines;
}

// Errors behind all other values, empty cells at the very end.
int sort_rank(const Value& value) {
  return value.is_empty() ? 2 : value.is_error() ? 1 : 0;
}
bool sorts_before(const Value& left, const Value& right, bool descending) {
  if (sort_rank(left) != sort_rank(right)) return sort_rank(left) < sort_rank(right);
  if (sort_rank(left) != 0) return false;
  const int order = compare_values(left, right);
  return descending ? order > 0 : order < 0;
}

Value reject_error(Arguments& a, std::size_t i) {
  if (!a[i].is_array()) a.check(a[i]);
  return {};
}

// (array, sort_index, sort_order, by_column)
Value sort(Arguments& a) {
  reject_error(a, 0);
  const double index = a.whole_or(1, 1), order = a.whole_or(2, 1);
  const Lines lines(a[0], a.given(3) && a.boolean(3));
  if (a.error()) return *a.error();
  if (index < 1 || index > static_cast<double>(lines.length()) || (order != 1 && order != -1)) return ErrorCode::value;
  auto sorted = all_lines(lines.size());
  const auto key = static_cast<std::size_t>(index) - 1;
  std::ranges::stable_sort(
      sorted, [&](std::size_t x, std::size_t y) { return sorts_before(lines(x, key), lines(y, key), order < 0); });
  return lines.pick(sorted);
}

// (array, by1, order1, by2, order2, ...)
Value sortby(Arguments& a) {
  reject_error(a, 0);
  struct Key {
    std::span<const Value> cells;
    bool descending;
  };
  std::vector<Key> keys;
  const bool by_columns = rows_of(a[1]) == 1 && columns_of(a[1]) > 1;
  const Lines lines(a[0], by_columns);
  for (std::size_t i = 1; i < a.size(); i += 2) {
    const double order = a.whole_or(i + 1, 1);
    keys.push_back({cells_of(a[i]), order < 0});
    if (keys.back().cells.size() != lines.size() || (order != 1 && order != -1)) a.fail(ErrorCode::value);
  }
  if (a.error()) return *a.error();
  auto sorted = all_lines(lines.size());
  std::ranges::stable_sort(sorted, [&](std::size_t x, std::size_t y) {
    for (const Key& key : keys) {
      if (sorts_before(key.cells[x], key.cells[y], key.descending)) return true;
      if (sorts_before(key.cells[y], key.cells[x], key.descending)) return false;
    }
    return false;
  });
  return lines.pick(sorted);
}

Value filter(Arguments& a) {
  reject_error(a, 0);
  const auto keep = cells_of(a[1]);
  const bool by_columns = rows_of(a[1]) == 1 && columns_of(a[1]) > 1;
  const Lines lines(a[0], by_columns);
  if (keep.size() != lines.size()) return a.fail(ErrorCode::value);
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < keep.size(); ++i) {
    const auto truth = to_boolean(keep[i]);
    if (!truth) return a.fail(truth.error());
    if (*truth) kept.push_back(i);
  }
  if (kept.empty() && a.given(2)) return a[2];
  return lines.pick(kept);
}

bool same_line(const Lines& lines, std::size_t x, std::size_t y) {
  for (std::size_t k = 0; k < lines.length(); ++k) {
    const Value &left = lines(x, k), &right = lines(y, k);
    if (left.is_error() || right.is_error()) {
      if (!exactly_equal(left, right)) return false;
    } else if (left.is_empty() != right.is_empty() || compare_values(left, right) != 0) {
      return false;
    }
  }
  return true;
}

// (array, by_column, exactly_once)
Value unique(Arguments& a) {
  const Lines lines(a[0], a.given(1) && a.boolean(1));
  const bool once = a.given(2) && a.boolean(2);
  const auto before = [&](std::size_t x, std::size_t y) {
    for (std::size_t k = 0; k < lines.length(); ++k) {
      const Value &left = lines(x, k), &right = lines(y, k);
      const int left_rank = sort_rank(left), right_rank = sort_rank(right);
      if (left_rank != right_rank) return left_rank < right_rank;
      if (left_rank == 1 && left.error() != right.error()) return left.error() < right.error();
      if (left_rank != 0) continue;
      if (const int order = compare_values(left, right); order != 0) return order < 0;
    }
    return false;
  };
  auto sorted = all_lines(lines.size());
  std::ranges::stable_sort(sorted, before);
  std::vector<std::size_t> kept;
  for (std::size_t first = 0; first < sorted.size();) {
    std::size_t next = first + 1;
    while (next < sorted.size() && same_line(lines, sorted[first], sorted[next])) ++next;
    if (!once || next == first + 1) kept.push_back(sorted[first]);
    first = next;
  }
  std::ranges::sort(kept);
  return lines.pick(kept);
}

// (rows, columns, start, step)
Value sequence(Arguments& a) {
  const double rows = a.whole_or(0, 1), columns = a.whole_or(1, 1), start = a.number_or(2, 1), step = a.number_or(3, 1);
  if (a.error()) return *a.error();
  if (rows < 0 || columns < 0) return ErrorCode::value;
  if (rows == 0 || columns == 0) return ErrorCode::calculation;
  if (rows > kMostRows || columns > kMostColumns || rows * columns > static_cast<double>(a.context().most_cells))
    return ErrorCode::value;
  Array result(static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = finite(start + step * static_cast<double>(i));
  return Value(std::move(result));
}

Value transpose(Arguments& a) {
  reject_error(a, 0);
  Array result(columns_of(a[0]), rows_of(a[0]));
  for (std::size_t row = 0; row < result.rows(); ++row) {
    for (std::size_t column = 0; column < result.columns(); ++column) result(row, column) = cell_of(a[0], column, row);
  }
  return Value(std::move(result));
}

// The lines that TAKE keeps, or DROP leaves.
std::optional<std::vector<std::size_t>> kept_lines(double count, std::size_t size, bool take) {
  const auto all = static_cast<double>(size);
  if (take && count == 0) return std::nullopt;
  const double wanted = std::min(std::abs(count), all);
  const double first = take ? (count > 0 ? 0 : all - wanted) : (count > 0 ? wanted : 0);
  const double last = take ? first + wanted : (count > 0 ? all : all - wanted);
  std::vector<std::size_t> lines;
  for (double i = first; i < last; ++i) lines.push_back(static_cast<std::size_t>(i));
  if (lines.empty()) return std::nullopt;
  return lines;
}
Value take_or_drop(Arguments& a, bool take) {
  reject_error(a, 0);
  const double rows = a.given(1) ? a.whole(1) : (take ? static_cast<double>(rows_of(a[0])) : 0);
  const double columns = a.given(2) ? a.whole(2) : (take ? static_cast<double>(columns_of(a[0])) : 0);
  const auto kept_rows = kept_lines(rows, rows_of(a[0]), take);
  if (a.error()) return *a.error();
  if (!kept_rows) return ErrorCode::calculation;
  const Value by_rows = Lines(a[0], false).pick(*kept_rows);
  const auto kept_columns = kept_lines(columns, columns_of(a[0]), take);
  return kept_columns ? Lines(by_rows, true).pick(*kept_columns) : Value(ErrorCode::calculation);
}
Value take(Arguments& a) {
  return take_or_drop(a, true);
}
Value drop(Arguments& a) {
  return take_or_drop(a, false);
}

Value choose_lines(Arguments& a, bool columns) {
  reject_error(a, 0);
  const Lines lines(a[0], columns);
  std::vector<std::size_t> chosen;
  for (const Value& value : a.from(1)) {
    for (const Value& cell : cells_of(value)) {
      const auto number = to_number(cell);
      if (!number) return a.fail(number.error());
      const double at = std::trunc(*number), size = static_cast<double>(lines.size());
      if (at == 0 || std::abs(at) > size) return a.fail(ErrorCode::value);
      chosen.push_back(static_cast<std::size_t>(at > 0 ? at - 1 : size + at));
    }
  }
  if (chosen.size() * lines.length() > a.context().most_cells) return ErrorCode::number;
  return lines.pick(chosen);
}
Value chooserows(Arguments& a) {
  return choose_lines(a, false);
}
Value choosecols(Arguments& a) {
  return choose_lines(a, true);
}

// All cells in one column or row: (array, ignore, scan_by_column). ignore: 1 empty cells, 2 errors, 3 both.
Value flattened(Arguments& a, bool into_column) {
  const double ignore = a.whole_or(1, 0);
  const bool by_columns = a.given(2) && a.boolean(2);
  if (a.error()) return *a.error();
  if (ignore < 0 || ignore > 3) return ErrorCode::value;
  const Lines lines(a[0], by_columns);
  std::vector<Value> cells;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (std::size_t k = 0; k < lines.length(); ++k) {
      const Value& cell = lines(i, k);
      if ((cell.is_empty() && (ignore == 1 || ignore == 3)) || (cell.is_error() && ignore >= 2)) continue;
      cells.push_back(cell);
    }
  }
  if (cells.empty()) return ErrorCode::calculation;
  const std::size_t size = cells.size();
  return into_column ? Value(Array(size, 1, std::move(cells))) : Value(Array(1, size, std::move(cells)));
}
Value tocol(Arguments& a) {
  return flattened(a, true);
}
Value torow(Arguments& a) {
  return flattened(a, false);
}

Value stacked(Arguments& a, bool vertically) {
  std::size_t along = 0, across = 0;
  for (const Value& value : a.from(0)) {
    const Lines lines(value, !vertically);
    along += lines.size();
    across = std::max(across, lines.length());
  }
  if (along > a.context().most_cells / across) return ErrorCode::number;
  Array result(vertically ? along : across, vertically ? across : along);
  std::size_t at = 0;
  for (const Value& value : a.from(0)) {
    const Lines lines(value, !vertically);
    for (std::size_t i = 0; i < lines.size(); ++i, ++at) {
      for (std::size_t k = 0; k < across; ++k) {
        (vertically ? result(at, k) : result(k, at)) =
            k < lines.length() ? lines(i, k) : Value(ErrorCode::not_available);
      }
    }
  }
  return Value(std::move(result));
}
Value vstack(Arguments& a) {
  return stacked(a, true);
}
Value hstack(Arguments& a) {
  return stacked(a, false);
}

// (array, rows, columns, pad_with)
Value expand(Arguments& a) {
  reject_error(a, 0);
  const double rows = a.whole_or(1, static_cast<double>(rows_of(a[0])));
  const double columns = a.whole_or(2, static_cast<double>(columns_of(a[0])));
  if (a.error()) return *a.error();
  if (rows < static_cast<double>(rows_of(a[0])) || columns < static_cast<double>(columns_of(a[0])))
    return ErrorCode::value;
  if (rows * columns > static_cast<double>(a.context().most_cells)) return ErrorCode::number;
  Array result(static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  for (std::size_t row = 0; row < result.rows(); ++row) {
    for (std::size_t column = 0; column < result.columns(); ++column) {
      const bool inside = row < rows_of(a[0]) && column < columns_of(a[0]);
      result(row, column) = inside       ? cell_of(a[0], row, column)
                            : a.given(3) ? a[3].scalar()
                                         : Value(ErrorCode::not_available);
    }
  }
  return Value(std::move(result));
}

// Cuts empty rows and columns off the edges: (range, rows, columns); 1 cuts before, 2 behind, 3 both.
Value trimrange(Arguments& a) {
  reject_error(a, 0);
  const double rows = a.whole_or(1, 3), columns = a.whole_or(2, 3);
  if (a.error()) return *a.error();
  if (rows < 0 || rows > 3 || columns < 0 || columns > 3 || a.number_or(1, 3) != rows || a.number_or(2, 3) != columns)
    return ErrorCode::value;
  const auto kept = [](const Lines& lines, double mode) {
    const auto is_empty = [&](std::size_t line) {
      for (std::size_t k = 0; k < lines.length(); ++k) {
        if (!lines(line, k).is_empty()) return false;
      }
      return true;
    };
    std::size_t first = 0, last = lines.size();
    const bool before = mode == 1 || mode == 3, behind = mode >= 2;
    while (before && first < last && is_empty(first)) ++first;
    while (behind && last > first && is_empty(last - 1)) --last;
    std::vector<std::size_t> result;
    for (std::size_t i = first; i < last; ++i) result.push_back(i);
    return result;
  };
  const Lines by_rows(a[0], false);
  const Value cut = by_rows.pick(kept(by_rows, rows));
  if (cut.is_error()) return ErrorCode::reference;
  const Lines by_columns(cut, true);
  return by_columns.pick(kept(by_columns, columns));
}

constexpr Function kFunctions[] = {
    {"SORT", "*array, [sort_index], [sort_order], [by_column]", "The rows in order.", sort},
    {"SORTBY", "*array, *by1, [order1], [*by2], [order2], ...", "The rows in the order of other cells.", sortby},
    {"FILTER", "*array, *keep, [*if_empty]", "The rows for which a condition holds.", filter},
    {"UNIQUE", "*array, [by_column], [exactly_once]", "Each row once.", unique},
    {"SEQUENCE", "rows, [columns], [start], [step]", "Numbers in order.", sequence},
    {"TRANSPOSE", "*array", "Rows as columns.", transpose},
    {"TAKE", "*array, rows, [columns]", "The first (or last) rows and columns.", take},
    {"DROP", "*array, rows, [columns]", "All but the first (or last) rows and columns.", drop},
    {"CHOOSEROWS", "*array, *row1, [*row2], ...", "Some rows.", chooserows},
    {"CHOOSECOLS", "*array, *column1, [*column2], ...", "Some columns.", choosecols},
    {"TOCOL", "*array, [ignore], [by_column]", "All cells in one column.", tocol},
    {"TOROW", "*array, [ignore], [by_column]", "All cells in one row.", torow},
    {"VSTACK", "*array1, [*array2], ...", "Arrays one below the other.", vstack},
    {"HSTACK", "*array1, [*array2], ...", "Arrays side by side.", hstack},
    {"EXPAND", "*array, rows, [columns], [pad_with]", "An array made larger.", expand},
    {"TRIMRANGE", "*range, [rows], [columns]", "A range without the empty rows and columns at its edges.", trimrange},
};

}  // namespace

std::span<const Function> array_functions() {
  return kFunctions;
}

}  // namespace glmhost::formula
