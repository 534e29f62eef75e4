// Counting, adding and averaging the cells that meet criteria.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/criterion.h"
#include "excel-addin/formula/families.h"

namespace glmhost::formula {
namespace {

// The cells of one range beside those of another of its size: SUMIF's third argument tells only where they begin.
Value beside(Arguments& a, const Value& cells, const Value& range) {
  if (rows_of(cells) == rows_of(range) && columns_of(cells) == columns_of(range)) return cells;
  const Area* area = cells.area();
  if (area == nullptr || !a.context().read_cells) return cells;
  Area wanted = *area;
  wanted.last_row = std::min(wanted.first_row + static_cast<std::uint32_t>(rows_of(range)) - 1, kMostRows - 1);
  wanted.last_column =
      std::min(wanted.first_column + static_cast<std::uint32_t>(columns_of(range)) - 1, kMostColumns - 1);
  return a.context().read_cells(wanted);
}

// Calls use(i) for each place at which all pairs (range, criterion) from argument `first` on hold.
template <class Use>
void for_each_match(Arguments& a, std::size_t first, std::size_t size_of_cells, const Use& use) {
  std::vector<Criterion> criteria;
  std::vector<std::span<const Value>> ranges;
  for (std::size_t i = first; i + 1 < a.size(); i += 2) {
    ranges.push_back(cells_of(a[i]));
    criteria.emplace_back(a[i + 1]);
    if (rows_of(a[i]) != rows_of(a[first]) || columns_of(a[i]) != columns_of(a[first])) a.fail(ErrorCode::value);
  }
  if ((a.size() - first) % 2 != 0 || ranges.empty()) a.fail(ErrorCode::value);
  if (a.error()) return;
  const std::size_t size = std::min(ranges[0].size(), size_of_cells);
  for (std::size_t i = 0; i < size; ++i) {
    bool all = true;
    for (std::size_t k = 0; k < ranges.size() && all; ++k) all = criteria[k].holds(ranges[k][i]);
    if (all) use(i);
  }
}

struct Totals {
  CompensatedSum sum;
  double count = 0;
  double least = std::numeric_limits<double>::infinity(), most = -std::numeric_limits<double>::infinity();
};

Totals totals(Arguments& a, const Value& cells_value, std::size_t first_pair) {
  Totals result;
  const auto cells = cells_of(cells_value);
  for_each_match(a, first_pair, cells.size(), [&](std::size_t i) {
    a.check(cells[i]);
    if (!cells[i].is_number()) return;
    const double number = cells[i].number();
    result.sum.add(number);
    result.count += 1;
    result.least = std::min(result.least, number);
    result.most = std::max(result.most, number);
  });
  return result;
}

// (range, criterion, [cells])
Totals totals_if(Arguments& a) {
  const Value cells = a.given(2) ? beside(a, a[2], a[0]) : a[0];
  const std::array<Value, 2> pair = {a[0], a[1]};
  Arguments pair_arguments(a.function(), pair, a.context());
  Totals result = totals(pair_arguments, cells, 0);
  if (pair_arguments.error()) a.fail(*pair_arguments.error());
  return result;
}

// (cells, range1, criterion1, ...)
Totals totals_ifs(Arguments& a) {
  if (a.size() > 1 && (rows_of(a[0]) != rows_of(a[1]) || columns_of(a[0]) != columns_of(a[1])))
    a.fail(ErrorCode::value);
  return totals(a, a[0], 1);
}

Value average_of(const Totals& totals) {
  return totals.count == 0 ? Value(ErrorCode::division) : finite(totals.sum.value() / totals.count);
}

Value sumif(Arguments& a) {
  return finite(totals_if(a).sum.value());
}
Value sumifs(Arguments& a) {
  return finite(totals_ifs(a).sum.value());
}
Value averageif(Arguments& a) {
  return average_of(totals_if(a));
}
Value averageifs(Arguments& a) {
  return average_of(totals_ifs(a));
}
Value minifs(Arguments& a) {
  const Totals result = totals_ifs(a);
  return result.count == 0 ? 0.0 : result.least;
}
Value maxifs(Arguments& a) {
  const Totals result = totals_ifs(a);
  return result.count == 0 ? 0.0 : result.most;
}

Value countifs(Arguments& a) {
  double count = 0;
  for_each_match(a, 0, std::numeric_limits<std::size_t>::max(), [&](std::size_t) { count += 1; });
  return count;
}

Value countblank(Arguments& a) {
  return static_cast<double>(std::ranges::count_if(
      cells_of(a[0]), [](const Value& cell) { return cell.is_empty() || (cell.is_text() && cell.text().empty()); }));
}

constexpr Trait kAggregate = Trait::aggregate;
constexpr Function kFunctions[] = {
    {"COUNTIF", "*range, criterion", "Counts the cells that meet a criterion.", countifs, kAggregate},
    {"COUNTIFS", "*range1, criterion1, [*range2], [criterion2], ...", "Counts the places that meet all criteria.",
     countifs, kAggregate},
    {"SUMIF", "*range, criterion, [*cells]", "Adds the cells that meet a criterion.", sumif, kAggregate},
    {"SUMIFS", "*cells, *range1, criterion1, [*range2], [criterion2], ...",
     "Adds the cells at places that meet all criteria.", sumifs, kAggregate},
    {"AVERAGEIF", "*range, criterion, [*cells]", "The mean of the cells that meet a criterion.", averageif, kAggregate},
    {"AVERAGEIFS", "*cells, *range1, criterion1, [*range2], [criterion2], ...",
     "The mean of the cells at places that meet all criteria.", averageifs, kAggregate},
    {"MINIFS", "*cells, *range1, criterion1, [*range2], [criterion2], ...",
     "The least of the cells at places that meet all criteria.", minifs, kAggregate},
    {"MAXIFS", "*cells, *range1, criterion1, [*range2], [criterion2], ...",
     "The largest of the cells at places that meet all criteria.", maxifs, kAggregate},
    {"COUNTBLANK", "*range", "Counts empty cells and empty texts.", countblank, kAggregate},
};

}  // namespace

std::span<const Function> criteria_functions() {
  return kFunctions;
}

}  // namespace glmhost::formula
