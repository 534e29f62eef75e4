// Finding a value in a row or column: what MATCH, VLOOKUP, XLOOKUP and their like share.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "excel-addin/formula/value.h"

namespace glmhost::formula {

// A row or a column of an array, or all cells of it.
class Vector {
 public:
  Vector(const Value& value, std::size_t first, std::size_t step, std::size_t size)
      : cells_(cells_of(value)), first_(first), step_(step), size_(size) {}
  static Vector row(const Value& value, std::size_t row);
  static Vector column(const Value& value, std::size_t column);

  std::size_t size() const { return size_; }
  const Value& operator[](std::size_t i) const { return cells_[first_ + i * step_]; }

 private:
  std::span<const Value> cells_;
  std::size_t first_, step_, size_;
};

enum class MatchMode : std::int8_t { exact = 0, or_smaller = -1, or_larger = 1, wildcard = 2, regex = 3 };

// The first (or last) cell of the key's type that equals it; a text key may hold wildcards.
std::optional<std::size_t> find_exact(const Value& key, const Vector& cells, bool wildcards, bool from_the_end = false);

// The last cell that is not above the key, by bisection as Excel does it: in a sorted vector the right one, in another
// mostly the one that Excel takes too. Cells of other types are passed over.
std::optional<std::size_t> find_in_ascending(const Value& key, const Vector& cells);

// The last cell that is not below the key in a descending vector.
std::optional<std::size_t> find_in_descending(const Value& key, const Vector& cells);

// The nearest cell below (or above) the key, whatever the order; the key itself when it is there. Other types count as
// below or above, as they sort.
std::optional<std::size_t> find_nearest(const Value& key, const Vector& cells, MatchMode mode, bool from_the_end);

// By bisection in a sorted vector.
std::optional<std::size_t> find_by_bisection(const Value& key, const Vector& cells, MatchMode mode, bool descending);

}  // namespace glmhost::formula
