#include "excel-addin/formula/search.h"

#include <algorithm>

#include "excel-addin/formula/coercion.h"
#include "excel-addin/formula/wildcard.h"

namespace glmhost::formula {

Vector Vector::row(const Value& value, std::size_t row) {
  return {value, row * columns_of(value), 1, columns_of(value)};
}

Vector Vector::column(const Value& value, std::size_t column) {
  return {value, column, columns_of(value), rows_of(value)};
}

std::optional<std::size_t> find_exact(const Value& key, const Vector& cells, bool wildcards, bool from_the_end) {
  std::optional<Wildcard> pattern;
  if (wildcards && key.is_text() && key.text().find_first_of("*?~") != std::string::npos) pattern.emplace(key.text());
  for (std::size_t k = 0; k < cells.size(); ++k) {
    const std::size_t i = from_the_end ? cells.size() - 1 - k : k;
    const Value& cell = cells[i];
    if (cell.type() != key.type()) continue;
    if (pattern ? pattern->matches(cell.text()) : compare_values(cell, key) == 0) return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> find_in_ascending(const Value& key, const Vector& cells) {
  std::optional<std::size_t> found;
  std::size_t low = 0, high = cells.size();
  while (low < high) {
    const std::size_t middle = (low + high - 1) / 2;
    // The nearest cell of the key's type at or behind the middle.
    std::size_t at = middle;
    while (at < high && cells[at].type() != key.type()) ++at;
    const int order = at < high ? compare_values(cells[at], key) : 1;
    if (order > 0) {
      high = middle;
      continue;
    }
    found = at;
    low = at + 1;
    if (order < 0) continue;
    // Met: the last of the equal ones that stand together.
    while (low < high && cells[low].type() == key.type() && compare_values(cells[low], key) == 0) found = low++;
    return found;
  }
  return found;
}

std::optional<std::size_t> find_in_descending(const Value& key, const Vector& cells) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].type() != key.type()) continue;
    const int order = compare_values(cells[i], key);
    if (order < 0) break;
    if (order == 0) return i;
    found = i;
  }
  return found;
}

namespace {

bool is_ordered(const Value& cell) {
  return !cell.is_error() && !cell.is_empty();
}

}  // namespace

std::optional<std::size_t> find_nearest(const Value& key, const Vector& cells, MatchMode mode, bool from_the_end) {
  std::optional<std::size_t> nearest;
  for (std::size_t k = 0; k < cells.size(); ++k) {
    const std::size_t i = from_the_end ? cells.size() - 1 - k : k;
    if (!is_ordered(cells[i]) && !(key.is_empty() && cells[i].is_empty())) continue;
    const int order = compare_values(cells[i], key);
    if (order == 0 && cells[i].type() == key.type()) return i;
    if (mode == MatchMode::exact || order == 0 || (order < 0) != (mode == MatchMode::or_smaller)) continue;
    const bool nearer = !nearest || (mode == MatchMode::or_smaller ? compare_values(cells[i], cells[*nearest]) > 0
                                                                   : compare_values(cells[i], cells[*nearest]) < 0);
    if (nearer) nearest = i;
  }
  return nearest;
}

std::optional<std::size_t> find_by_bisection(const Value& key, const Vector& cells, MatchMode mode, bool descending) {
  const auto equals = [&](std::size_t i) {
    return i < cells.size() && cells[i].type() == key.type() && is_ordered(cells[i]) &&
           compare_values(cells[i], key) == 0;
  };
  std::size_t low = 0, high = cells.size();
  while (low < high) {
    std::size_t middle = (low + high) / 2;
    if (equals(middle)) {
      // Of equal ones that stand together: the first going up, the last going down.
      while (descending ? equals(middle + 1) : middle > 0 && equals(middle - 1)) descending ? ++middle : --middle;
      return middle;
    }
    // Errors and empty cells stand behind all others.
    const int order = is_ordered(cells[middle]) ? compare_values(cells[middle], key) : 1;
    if (descending && is_ordered(cells[middle]) ? order > 0 : order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  if (mode == MatchMode::exact) return std::nullopt;
  // `low` is the first cell that is not before the key.
  const bool before = (mode == MatchMode::or_smaller) != descending;
  if (before) return low > 0 ? std::optional(low - 1) : std::nullopt;
  return low < cells.size() && is_ordered(cells[low]) ? std::optional(low) : std::nullopt;
}

}  // namespace glmhost::formula
