// What an evaluation needs of the world around it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>

#include "excel-addin/formula/syntax_tree.h"
#include "excel-addin/formula/value.h"

namespace glmhost::formula {

// Used by one evaluation at a time.
struct Context {
  // The value of a name, or nothing when there is none: #NAME?. May be empty.
  std::function<std::optional<Value>(const Name& name)> resolve_name;

  // The values of parts of the tree that the caller computed already, such as a table's aggregates. May be empty.
  std::function<std::optional<Value>(NodeId part)> known_part;

  // The cells of an area, as an array whose area is set. May be empty: cells are then #REF!. Areas may be whole
  // columns: what is returned may be cut to the cells in use, from the upper left corner on.
  std::function<Value(const Area& area)> read_cells;

  // Where the formula stands, for ROW() and COLUMN().
  std::optional<Area> own_cell;

  // Local time as a serial. Empty: the machine's clock.
  std::function<double()> now;

  std::mt19937_64 random{std::random_device{}()};

  // Cells of one array; a larger one is #NUM!.
  std::size_t most_cells = std::size_t{1} << 24;
};

}  // namespace glmhost::formula
