// The cells, what each depends on, and which must be calculated.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/e2e/excel_host/formula.h"
#include "tests/e2e/excel_host/memory.h"

namespace excel_host {

struct Cell {
  std::optional<Term> formula;
  CellValue value;
  bool dirty = false;
  bool was_pending = false;            // has shown #GETTING_DATA since the last reset
  std::set<int> topics;                // RTD topics that its last calculation asked for
  std::int32_t rows = 1, columns = 1;  // of what it spills
  std::optional<Place> spilled_from;
};

class Workbook {
 public:
  bool dynamic_arrays = true;

  const Cell* find(const Place& place) const;
  CellValue value(const Place& place) const;
  std::map<Place, Cell>& cells() { return cells_; }
  const std::map<Place, Cell>& cells() const { return cells_; }

  // Whatever depends on the cell is dirty then, and a formula is dirty itself.
  void set_value(const Place& place, CellValue value);
  void set_formula(const Place& place, Term formula);
  void make_dirty(const Place& place);
  void make_all_dirty();

  // The calculated value of a formula, spilled where it is an array. What depends on it becomes dirty if it is new.
  void store(const Place& place, Argument result);

  void shift_rows(int sheet, std::int32_t row, std::int32_t count);

  // The part of a range in which there may be something: its upper left corner stays.
  XlArea used_part(const Range& range) const;
  Grid grid(const Range& range) const;
  std::size_t count_values(const Range& range) const;
  bool has_dirty(const Range& range) const;

  void save(const std::string& path) const;
  void open(const std::string& path);  // instead of what is there

 private:
  void make_dependents_dirty(const Range& changed);
  void clear_spill(const Place& place, Cell& cell);

  std::map<Place, Cell> cells_;
};

}  // namespace excel_host
