// pivot, unpivot, fill, describe.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "excel-addin/formula/text_units.h"
#include "excel-addin/table/csv_writer.h"
#include "excel-addin/table/run.h"
#include "excel-addin/table/table_error.h"

namespace glmhost::table {

using formula::Value;

Table Run::apply(const Pivot& stage, const Table& table) {
  const Table keys = key_table(stage.keys, table);
  const std::size_t by_place = place(stage.by, table);
  std::vector<Column> rows_by, cells_by;
  for (std::size_t i = 0; i < keys.width(); ++i) rows_by.push_back(keys.column(i, workers_));
  cells_by = rows_by;
  const Column& by = table.column(by_place, workers_);
  cells_by.push_back(by);
  const Grouping row_groups = group_rows(rows_by, table.rows(), workers_);
  const Grouping by_groups = group_rows({&by, 1}, table.rows(), workers_);
  if (by_groups.groups() > kMostColumns) {
    throw TableError("The pivot would have " + std::to_string(by_groups.groups()) + " columns; " +
                     std::to_string(kMostColumns) + " are the most. Pivot by a column with fewer different values.");
  }
  Groups groups(group_rows(cells_by, table.rows(), workers_), workers_);
  const Rows& firsts = groups.grouping().first_rows;
  Table cell_keys = keys;
  if (!keys.find(table.name(by_place))) cell_keys.add(table.name(by_place), table.fields()[by_place].column);
  const Column values =
      evaluate_groups(stage.aggregate.value, scope(table), cell_keys.take(firsts, workers_), groups, workers_);

  Table result = keys.take(row_groups.first_rows, workers_);
  const std::size_t height = table.rows() == 0 ? 0 : row_groups.groups();
  if (table.rows() == 0) return keys.slice(0, 0, workers_);
  std::vector<std::uint32_t> row_of(row_groups.space);
  for (std::size_t g = 0; g < row_groups.groups(); ++g) row_of[row_groups.order[g]] = static_cast<std::uint32_t>(g);
  // The new columns stand in the order of their values.
  Workers& workers = workers_;
  const Column headers = gather(by, by_groups.first_rows, workers);
  const SortColumn header_order{headers, false};
  const Rows order = sorted_rows({&header_order, 1}, headers.rows(), workers);
  std::vector<std::uint32_t> column_of(by_groups.space);
  for (std::size_t i = 0; i < order.size(); ++i) column_of[by_groups.order[order[i]]] = static_cast<std::uint32_t>(i);
  std::vector<Rows> cells(order.size(), Rows(height, kNoRow));
  for (std::size_t g = 0; g < firsts.size(); ++g) {
    cells[column_of[by_groups.ids[firsts[g]]]][row_of[row_groups.ids[firsts[g]]]] = static_cast<std::uint32_t>(g);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::string name = shown_text(headers.value(order[i]));
    if (name.empty()) name = "(empty)";
    result.add(free_name(result, name), LazyColumn(values, std::make_shared<const Rows>(std::move(cells[i]))));
  }
  return stage.totals ? with_totals(stage, table, keys, std::move(result), {by_groups, order}) : result;
}

// A column for each row's total, and a row for each column's.
Table Run::with_totals(const Pivot& stage, const Table& table, const Table& keys, Table result,
                       const PivotColumns& columns) {
  const Assignment& aggregate = stage.aggregate;
  Assignment total = aggregate;
  total.name = free_name(result, "Total");
  if (keys.width() > 0) {
    const Table by_row = grouped({total}, keys, std::vector<bool>(keys.width(), true), table);
    result.add(total.name, by_row.fields().back().column);
  }
  // The last row: the totals of the columns in their order, and that of all.
  Table by_keys(table.rows());
  const std::size_t by_place = place(stage.by, table);
  by_keys.add(table.name(by_place), table.fields()[by_place].column);
  const Column by_column = grouped({aggregate}, by_keys, {true}, table).fields().back().column.get(workers_);
  const Column of_all = grouped({aggregate}, Table(table.rows()), {}, table).fields().back().column.get(workers_);
  if (keys.width() == 0) {  // the one row holds the columns' totals already
    result.add(total.name, LazyColumn(of_all));
    return result;
  }
  Table last(1);
  for (std::size_t i = 0; i < keys.width(); ++i) last.add(result.name(i), LazyColumn(Column::empties(1)));
  for (std::size_t i = 0; i < columns.order.size(); ++i) {
    const Rows cell = {columns.order[i]};
    last.add(result.name(keys.width() + i), LazyColumn(gather(by_column, cell, workers_)));
  }
  last.add(total.name, LazyColumn(of_all));
  return stacked(result, last);
}

Table Run::apply(const Unpivot& stage, const Table& table) {
  std::vector<std::size_t> turned = picked(stage.picks, table), kept;
  for (std::size_t i = 0; i < table.width(); ++i) {
    if (std::ranges::find(turned, i) == turned.end()) kept.push_back(i);
  }
  if (stage.exclude) std::swap(turned, kept);
  const std::size_t count = turned.size(), rows = table.rows() * count;
  if (rows > options_.most_rows)
    throw TableError("unpivot would make " + std::to_string(rows) + " rows, more than the " +
                     std::to_string(options_.most_rows) + " that are allowed.");
  Rows row_of(rows), cell_of(rows);
  Buffer<std::uint32_t> name_codes(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    row_of[i] = static_cast<std::uint32_t>(i / count);
    cell_of[i] = static_cast<std::uint32_t>(i % count * table.rows() + i / count);
    name_codes[i] = static_cast<std::uint32_t>(i % count);
  }
  DictionaryBuilder names;
  std::vector<Column> columns;
  for (const std::size_t i : turned) {
    const std::uint32_t code = names.code(table.name(i));
    if (code + 1 != names.size()) throw TableError("Two columns are called `" + table.name(i) + "`.");
    columns.push_back(table.column(i, workers_));
  }
  Table result = table.select(kept).take(std::move(row_of), workers_);
  const auto add = [&](const std::string& name, LazyColumn column) {
    if (result.find(name))
      throw TableError("unpivot would make two columns `" + name + "`; give another name behind `into`.");
    result.add(name, std::move(column));
  };
  add(stage.name_column, LazyColumn(Column::texts(std::move(name_codes), {}, names.finish())));
  add(stage.value_column, LazyColumn(columns.empty() ? Column::empties(rows) : concatenated(columns),
                                     std::make_shared<const Rows>(std::move(cell_of))));
  return result;
}

namespace {

// For each row the nearest one, going down, that is not empty; kNoRow where there is none yet.
Rows last_filled(const Column& column, bool down) {
  const std::size_t rows = column.rows();
  Rows result(rows);
  std::uint32_t last = kNoRow;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t row = down ? i : rows - 1 - i;
    if (column.tag(row) != Tag::empty) last = static_cast<std::uint32_t>(row);
    result[row] = last;
  }
  return result;
}

// Empty cells between two numbers lie on the line between them.
Column interpolated(const Column& column) {
  const Rows above = last_filled(column, true), below = last_filled(column, false);
  ColumnBuilder builder;
  builder.reserve(column.rows());
  for (std::size_t row = 0; row < column.rows(); ++row) {
    const bool between = column.tag(row) == Tag::empty && above[row] != kNoRow && below[row] != kNoRow;
    if (!between || !is_number(column.tag(above[row])) || !is_number(column.tag(below[row]))) {
      builder.add(column.value(row));
      continue;
    }
    const Value first = column.value(above[row]), last = column.value(below[row]);
    const double part = static_cast<double>(row - above[row]) / static_cast<double>(below[row] - above[row]);
    builder.add(Value(first.number() + (last.number() - first.number()) * part, first.kind()));
  }
  return builder.finish();
}

}  // namespace

Table Run::apply(const Fill& stage, const Table& table) {
  Table result = table;
  for (std::size_t k = 0; k < stage.columns.size(); ++k) {
    const std::size_t i = place(stage.columns[k], result);
    const Column column = result.column(i, workers_);
    const std::string name = result.name(i);
    switch (stage.mode) {
      case FillMode::down:
      case FillMode::up:
        result.set(name, gather(column, last_filled(column, stage.mode == FillMode::down), workers_));
        break;
      case FillMode::interpolate:
        result.set(name, interpolated(column));
        break;
      case FillMode::value: {
        const Column parts[] = {column, evaluate(stage.values[k], scope(result), workers_)};
        Rows from(column.rows());
        for (std::size_t row = 0; row < from.size(); ++row) {
          from[row] = static_cast<std::uint32_t>(column.tag(row) == Tag::empty ? column.rows() + row : row);
        }
        result.set(name, gather(concatenated(parts), from, workers_));
        break;
      }
    }
  }
  return result;
}

Table Run::apply(const Describe&, const Table& table) {
  constexpr const char* kHeaders[] = {"column",   "type", "rows", "empty",   "errors",
                                      "distinct", "min",  "max",  "average", "stdev"};
  std::vector<ColumnBuilder> builders(std::size(kHeaders));
  for (std::size_t i = 0; i < table.width(); ++i) {
    const Column& column = table.column(i, workers_);
    std::size_t empties = 0, errors = 0, numbers = 0;
    formula::CompensatedSum sum;
    for (std::size_t row = 0; row < column.rows(); ++row) {
      const Tag tag = column.tag(row);
      empties += tag == Tag::empty;
      errors += tag == Tag::error;
      if (!is_number(tag)) continue;
      ++numbers;
      sum.add(column.type() == ColumnType::number ? column.numbers()[row] : column.payloads()[row]);
    }
    const double mean = sum.value() / static_cast<double>(numbers);
    formula::CompensatedSum squares;
    for (std::size_t row = 0; row < column.rows(); ++row) {
      if (!is_number(column.tag(row))) continue;
      const double off = (column.type() == ColumnType::number ? column.numbers()[row] : column.payloads()[row]) - mean;
      squares.add(off * off);
    }
    const Grouping grouping = group_rows({&column, 1}, column.rows(), workers_);
    std::size_t distinct = grouping.groups();
    const SortColumn up{column, false}, down{column, true};
    // The ends of the order, without errors and empty cells.
    const auto end_of = [&](const SortColumn& order) {
      const std::vector<std::uint64_t> keys = sort_keys(order, workers_);
      std::size_t best = column.rows();
      for (std::size_t row = 0; row < column.rows(); ++row) {
        const Tag tag = column.tag(row);
        if (tag != Tag::empty && tag != Tag::error && (best == column.rows() || keys[row] < keys[best])) best = row;
      }
      return best == column.rows() ? Value() : column.value(best);
    };
    if (empties > 0) --distinct;
    const bool days = column.type() == ColumnType::number && column.kind() != formula::NumberKind::plain;
    constexpr const char* kTypes[] = {"empty", "number", "text", "boolean", "mixed"};
    const Value cells[] = {Value(table.name(i)),
                           Value(days ? "date" : kTypes[static_cast<int>(column.type())]),
                           Value(static_cast<double>(column.rows())),
                           Value(static_cast<double>(empties)),
                           Value(static_cast<double>(errors)),
                           Value(static_cast<double>(distinct)),
                           end_of(up),
                           end_of(down),
                           numbers > 0 && !days ? formula::finite(mean) : Value(),
                           numbers > 1 && !days
                               ? formula::finite(std::sqrt(squares.value() / static_cast<double>(numbers - 1)))
                               : Value()};
    for (std::size_t k = 0; k < builders.size(); ++k) builders[k].add(cells[k]);
  }
  Table result(table.width());
  for (std::size_t k = 0; k < builders.size(); ++k) result.add(kHeaders[k], LazyColumn(builders[k].finish()));
  return result;
}

}  // namespace glmhost::table
