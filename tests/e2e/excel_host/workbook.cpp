#include "tests/e2e/excel_host/workbook.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace excel_host {
namespace {

bool meet(const Range& a, const Range& b) {
  return a.sheet == b.sheet && a.area.first_row <= b.area.last_row && b.area.first_row <= a.area.last_row &&
         a.area.first_column <= b.area.last_column && b.area.first_column <= a.area.last_column;
}

Range range_at(const Place& place, std::int32_t rows = 1, std::int32_t columns = 1) {
  return {place.sheet, {place.row, place.row + rows - 1, place.column, place.column + columns - 1}};
}

bool depends_on(const Term& formula, int own_sheet, const Range& changed) {
  bool found = false;
  for_each_reference(formula, [&](const Term& reference) {
    for (const Term::Area& area : reference.areas) found = found || meet(range_of(reference, area, own_sheet), changed);
  });
  return found;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\\') {
      out += "\\\\";
    } else {
      out += c;
    }
  }
  return out;
}

std::string unescaped(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
    } else {
      out += text[++i] == 'n' ? '\n' : text[i];
    }
  }
  return out;
}

}  // namespace

const Cell* Workbook::find(const Place& place) const {
  const auto found = cells_.find(place);
  return found == cells_.end() ? nullptr : &found->second;
}

CellValue Workbook::value(const Place& place) const {
  const Cell* cell = find(place);
  return cell == nullptr ? CellValue() : cell->value;
}

void Workbook::set_value(const Place& place, CellValue value) {
  Cell& cell = cells_[place];
  clear_spill(place, cell);
  cell = Cell();
  cell.value = std::move(value);
  make_dependents_dirty(range_at(place));
}

void Workbook::set_formula(const Place& place, Term formula) {
  Cell& cell = cells_[place];
  clear_spill(place, cell);
  CellValue before = std::move(cell.value);
  const std::set<int> topics = cell.topics;
  cell = Cell();
  cell.value = std::move(before);
  cell.topics = topics;
  cell.formula = std::move(formula);
  make_dirty(place);
}

void Workbook::make_dirty(const Place& place) {
  Cell& cell = cells_[place];
  if (cell.dirty) return;
  cell.dirty = cell.formula.has_value();
  make_dependents_dirty(range_at(place, cell.rows, cell.columns));
}

void Workbook::make_all_dirty() {
  for (auto& [place, cell] : cells_) cell.dirty = cell.formula.has_value();
}

void Workbook::make_dependents_dirty(const Range& changed) {
  std::vector<Place> more;
  for (auto& [place, cell] : cells_) {
    if (cell.formula && !cell.dirty && depends_on(*cell.formula, place.sheet, changed)) more.push_back(place);
  }
  for (const Place& place : more) make_dirty(place);
}

void Workbook::clear_spill(const Place& place, Cell& cell) {
  for (std::int32_t r = 0; r < cell.rows; ++r) {
    for (std::int32_t c = 0; c < cell.columns; ++c) {
      if (r == 0 && c == 0) continue;
      const Place at{place.sheet, place.row + r, place.column + c};
      const auto found = cells_.find(at);
      if (found != cells_.end() && found->second.spilled_from == place) cells_.erase(found);
    }
  }
  cell.rows = cell.columns = 1;
}

void Workbook::store(const Place& place, Argument result) {
  Cell& cell = cells_[place];
  if (result.kind == Argument::Kind::array && (!dynamic_arrays || result.grid.cells.size() == 1)) {
    result.value = result.grid.cells[0];
    result.kind = Argument::Kind::value;
  }
  const bool is_array = result.kind == Argument::Kind::array;
  if (!is_array && cell.rows == 1 && cell.columns == 1) {
    // Excel shows nothing as 0.
    CellValue value = std::holds_alternative<Empty>(result.value) ? CellValue(0.0) : std::move(result.value);
    cell.was_pending = cell.was_pending || is_pending(value);
    cell.dirty = false;
    cell.value = std::move(value);
    return;
  }
  const Range before = range_at(place, cell.rows, cell.columns);
  clear_spill(place, cell);
  cell.dirty = false;
  if (!is_array) {
    cell.value = std::move(result.value);
  } else {
    bool blocked = place.row + result.grid.rows > glmhost::xll::kMostRows ||
                   place.column + result.grid.columns > glmhost::xll::kMostColumns;
    for (std::int32_t r = 0; r < result.grid.rows && !blocked; ++r) {
      for (std::int32_t c = 0; c < result.grid.columns; ++c) {
        const Cell* other = r + c == 0 ? nullptr : find({place.sheet, place.row + r, place.column + c});
        blocked = blocked || (other != nullptr && (other->formula || !std::holds_alternative<Empty>(other->value)));
      }
    }
    if (blocked) {
      cell.value = CellError{kSpillError};
    } else {
      cell.rows = result.grid.rows;
      cell.columns = result.grid.columns;
      for (std::int32_t r = 0; r < cell.rows; ++r) {
        for (std::int32_t c = 0; c < cell.columns; ++c) {
          CellValue& value = result.grid.cells[static_cast<std::size_t>(r) * static_cast<std::size_t>(cell.columns) +
                                               static_cast<std::size_t>(c)];
          Cell& target = r + c == 0 ? cell : cells_[{place.sheet, place.row + r, place.column + c}];
          target.value = std::holds_alternative<Empty>(value) ? CellValue(0.0) : std::move(value);
          target.was_pending = target.was_pending || is_pending(target.value);
          if (r + c != 0) target.spilled_from = place;
        }
      }
    }
  }
  cell.was_pending = cell.was_pending || is_pending(cell.value);
  make_dependents_dirty(before);
  make_dependents_dirty(range_at(place, cell.rows, cell.columns));
}

void Workbook::shift_rows(int sheet, std::int32_t row, std::int32_t count) {
  std::map<Place, Cell> moved;
  for (auto& [place, cell] : cells_) {
    Place at = place;
    if (cell.formula) excel_host::shift_rows(*cell.formula, place.sheet, sheet, row, count);
    const auto move = [&](Place& each) {
      if (each.sheet != sheet) return true;
      if (count < 0 && each.row == row) return false;
      if (each.row >= row) each.row += count;
      return true;
    };
    if (cell.spilled_from) move(*cell.spilled_from);
    if (move(at)) moved.emplace(at, std::move(cell));
  }
  cells_ = std::move(moved);
  for (auto& [place, cell] : cells_) {
    if (!cell.formula) continue;
    bool broken = false;
    for_each_reference(*cell.formula, [&](const Term& reference) { broken = broken || reference.broken; });
    cell.dirty = cell.dirty || broken;
  }
}

XlArea Workbook::used_part(const Range& range) const {
  XlArea used = range.area;
  used.last_row = used.first_row;
  used.last_column = used.first_column;
  const auto see = [&](const Place& place) {
    if (!range.contains(place)) return;
    used.last_row = std::max(used.last_row, place.row);
    used.last_column = std::max(used.last_column, place.column);
  };
  const auto begin = cells_.lower_bound({range.sheet, range.area.first_row, 0});
  for (auto each = begin; each != cells_.end() && each->first.sheet == range.sheet; ++each) {
    if (each->first.row > range.area.last_row) break;
    see(each->first);
  }
  return used;
}

Grid Workbook::grid(const Range& range) const {
  Grid grid{range.area.last_row - range.area.first_row + 1, range.area.last_column - range.area.first_column + 1, {}};
  grid.cells.resize(static_cast<std::size_t>(range.cells()));
  for (auto each = cells_.lower_bound({range.sheet, range.area.first_row, 0}); each != cells_.end(); ++each) {
    if (each->first.sheet != range.sheet || each->first.row > range.area.last_row) break;
    if (!range.contains(each->first)) continue;
    grid.cells[static_cast<std::size_t>(each->first.row - range.area.first_row) *
                   static_cast<std::size_t>(grid.columns) +
               static_cast<std::size_t>(each->first.column - range.area.first_column)] = each->second.value;
  }
  return grid;
}

std::size_t Workbook::count_values(const Range& range) const {
  std::size_t count = 0;
  for (auto each = cells_.lower_bound({range.sheet, range.area.first_row, 0}); each != cells_.end(); ++each) {
    if (each->first.sheet != range.sheet || each->first.row > range.area.last_row) break;
    if (range.contains(each->first) && !std::holds_alternative<Empty>(each->second.value)) ++count;
  }
  return count;
}

bool Workbook::has_dirty(const Range& range) const {
  for (auto each = cells_.lower_bound({range.sheet, range.area.first_row, 0}); each != cells_.end(); ++each) {
    if (each->first.sheet != range.sheet || each->first.row > range.area.last_row) break;
    if (!range.contains(each->first)) continue;
    const Cell* cell = &each->second;
    if (cell->spilled_from) cell = find(*cell->spilled_from);
    if (cell != nullptr && cell->dirty) return true;
  }
  return false;
}

void Workbook::save(const std::string& path) const {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  for (const auto& [place, cell] : cells_) {
    if (cell.spilled_from) continue;
    const auto saved = [](const CellValue& value) {
      Term literal;
      literal.kind = Term::Kind::literal;
      literal.value = value;
      return escaped(formula_text(literal));
    };
    file << show(place) << '\t' << (cell.formula ? escaped(formula_text(*cell.formula)) : "") << '\t'
         << saved(cell.value) << '\t' << cell.topics.size() << '\n';
    for (std::int32_t r = 0; r < cell.rows; ++r) {
      for (std::int32_t c = 0; c < cell.columns; ++c) {
        if (r + c == 0) continue;
        const Place at{place.sheet, place.row + r, place.column + c};
        file << show(at) << "\tspilled " << show(place) << ' ' << cell.rows << ' ' << cell.columns << '\t'
             << saved(value(at)) << "\t0\n";
      }
    }
  }
  if (!file.flush()) throw Failure{"the workbook cannot be saved to " + path};
}

void Workbook::open(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Failure{"there is no workbook " + path};
  cells_.clear();
  std::string line;
  while (std::getline(file, line)) {
    std::vector<std::string> parts;
    std::stringstream stream(line);
    for (std::string part; std::getline(stream, part, '\t');) parts.push_back(unescaped(part));
    if (parts.size() != 4) throw Failure{"the workbook is damaged: " + line};
    const Range range = parse_range(parts[0]);
    Cell& cell = cells_[{range.sheet, range.area.first_row, range.area.first_column}];
    if (parts[2] != "empty") {
      std::string text = parts[2];
      const Term literal = parse_formula(text);
      cell.value = literal.value;
    }
    if (parts[1].starts_with("spilled ")) {
      std::stringstream words(parts[1].substr(8));
      std::string anchor;
      std::int32_t rows = 0, columns = 0;
      words >> anchor >> rows >> columns;
      const Range from = parse_range(anchor);
      const Place place{from.sheet, from.area.first_row, from.area.first_column};
      cell.spilled_from = place;
      cells_[place].rows = rows;
      cells_[place].columns = columns;
    } else if (!parts[1].empty()) {
      cell.formula = parse_formula(parts[1]);
      // What hung on live data is calculated when the book is opened; all else keeps its saved value.
      cell.dirty = parts[3] != "0";
    }
  }
}

}  // namespace excel_host
