// complete: rows for the combinations that are missing.
#include <algorithm>
#include <cmath>
#include <string>

#include "excel-addin/formula/calendar.h"
#include "excel-addin/formula/text_units.h"
#include "excel-addin/table/run.h"
#include "excel-addin/table/table_error.h"

namespace glmhost::table {

using formula::Value;

namespace {

bool counts(Tag tag) {
  return tag != Tag::empty && tag != Tag::error;
}

double number_at(const Column& column, std::size_t row) {
  return column.type() == ColumnType::number ? column.numbers()[row] : column.payloads()[row];
}

// The values from `first` on up to `last`, both inside.
std::vector<double> sequence(double first, double last, const SequenceStep& step, std::size_t most) {
  std::vector<double> values;
  const auto add = [&](double value) {
    if (values.size() >= most) {
      throw TableError("complete would make more than the " + std::to_string(most) +
                       " rows that are allowed. Take a larger step.");
    }
    values.push_back(value);
  };
  const double days = step.unit == StepUnit::week ? step.count * 7 : step.count;
  if (step.unit == StepUnit::number || step.unit == StepUnit::day || step.unit == StepUnit::week) {
    const double slack = days * 1e-9;  // 0.1 + 0.1 + 0.1 is not 0.3
    if (!std::isfinite((last - first) / days) || (last - first) / days > static_cast<double>(most)) {
      throw TableError("complete would make more than the " + std::to_string(most) +
                       " rows that are allowed. Take a larger step.");
    }
    for (std::size_t i = 0; first + static_cast<double>(i) * days <= last + slack; ++i)
      add(first + static_cast<double>(i) * days);
    return values;
  }
  if (first < 0 || last > formula::kLastSerial)
    throw TableError("complete counts months and years of dates; the column holds numbers that are none.");
  const std::int64_t months = static_cast<std::int64_t>(step.count) * (step.unit == StepUnit::month     ? 1
                                                                       : step.unit == StepUnit::quarter ? 3
                                                                                                        : 12);
  const double day = std::floor(first), time = first - day;
  const formula::Date begin = formula::date_of(static_cast<std::int64_t>(day));
  for (std::int64_t i = 0;; ++i) {
    // From the first each time: what February cut off comes back in March.
    const auto serial = formula::serial_of(formula::months_on(begin, i * months));
    if (!serial || static_cast<double>(*serial) + time > last) break;
    add(static_cast<double>(*serial) + time);
  }
  return values;
}

// A key's values, sorted; each row and each value of a sequence has a place among them.
struct Domain {
  Column values;
  std::vector<std::uint32_t> place_of_row;           // kNoRow: an empty cell or an error
  std::vector<std::vector<std::uint32_t>> of_group;  // sorted places
};

Domain domain_of(const CompleteKey& key, const Column& column, const GroupRows& groups, std::size_t group_count,
                 std::size_t most_rows, Workers& workers) {
  // Values of sequences that the group does not have yet, one behind the other.
  ColumnBuilder added;
  std::vector<std::size_t> added_ends;
  for (std::size_t g = 0; g < group_count; ++g) {
    workers.check_cancelled();
    std::vector<double> own;
    Tag tag = Tag::number;
    for (const std::uint32_t row : groups.of(g)) {
      if (!key.every || !is_number(column.tag(row))) continue;
      if (own.empty()) tag = column.tag(row);
      own.push_back(number_at(column, row));
    }
    std::ranges::sort(own);
    if (!own.empty()) {
      const double slack = 1e-9 * std::max(1.0, key.every->count);
      const std::size_t left = most_rows - std::min(most_rows, added.rows());
      for (const double value : sequence(own.front(), own.back(), *key.every, left)) {
        const auto near = std::ranges::lower_bound(own, value - slack);
        if (near == own.end() || *near > value + slack) added.add(tag, value);
      }
    }
    added_ends.push_back(added.rows());
  }
  const Column parts[] = {column, added.finish()};
  const Column all = concatenated(parts);
  const Grouping grouping = group_rows({&all, 1}, all.rows(), workers);
  const SortColumn order{gather(all, grouping.first_rows, workers), false};
  const Rows sorted = sorted_rows({&order, 1}, order.column.rows(), workers);
  Domain result;
  std::vector<std::uint32_t> place_of_id(grouping.space, kNoRow);
  Rows firsts;
  for (const std::uint32_t g : sorted) {
    const std::uint32_t row = grouping.first_rows[g];
    if (!counts(all.tag(row))) continue;
    place_of_id[grouping.order[g]] = static_cast<std::uint32_t>(firsts.size());
    firsts.push_back(row);
  }
  result.values = gather(all, firsts, workers);
  for (std::size_t row = 0; row < column.rows(); ++row) result.place_of_row.push_back(place_of_id[grouping.ids[row]]);
  for (std::size_t g = 0; g < group_count; ++g) {
    std::vector<std::uint32_t> places;
    for (const std::uint32_t row : groups.of(g)) {
      if (result.place_of_row[row] != kNoRow) places.push_back(result.place_of_row[row]);
    }
    for (std::size_t i = g == 0 ? 0 : added_ends[g - 1]; i < added_ends[g]; ++i)
      places.push_back(place_of_id[grouping.ids[column.rows() + i]]);
    std::ranges::sort(places);
    places.erase(std::unique(places.begin(), places.end()), places.end());
    result.of_group.push_back(std::move(places));
  }
  return result;
}

}  // namespace

Table Run::apply(const Complete& stage, const Table& table) {
  if (table.rows() == 0) return table;
  Groups groups(group_rows(columns_named(stage.per, table), table.rows(), workers_), workers_);
  const GroupRows& rows_of = groups.rows();
  const std::size_t group_count = groups.grouping().groups();
  std::vector<std::size_t> key_places, per_places;
  std::vector<Domain> domains;
  for (const CompleteKey& key : stage.keys) {
    key_places.push_back(place(key.column, table));
    if (std::ranges::count(key_places, key_places.back()) > 1) {
      throw formula::SyntaxError("A column stands twice among the keys.", key.column.span.offset,
                                 std::max<std::size_t>(key.column.span.length, 1));
    }
    domains.push_back(
        domain_of(key, table.column(key_places.back(), workers_), rows_of, group_count, options_.most_rows, workers_));
  }
  for (const ColumnName& name : stage.per) per_places.push_back(place(name, table));

  double most = static_cast<double>(table.rows());
  for (std::size_t g = 0; g < group_count; ++g) {
    double combinations = 1;
    for (const Domain& domain : domains) combinations *= static_cast<double>(domain.of_group[g].size());
    most += combinations;
  }
  if (most > static_cast<double>(options_.most_rows)) {
    throw TableError("complete would make up to " + std::to_string(static_cast<std::uint64_t>(std::min(most, 1.8e19))) +
                     " rows, more than the " + std::to_string(options_.most_rows) +
                     " that are allowed. Name fewer keys, or complete per a column.");
  }

  // Of each new row: the row it is, or kNoRow; its group's first row; its place in each key's domain.
  Rows from, group_row;
  std::vector<Rows> key_rows(domains.size());
  const auto emit = [&](std::uint32_t row, std::uint32_t first, std::uint64_t combination, std::size_t g) {
    from.push_back(row);
    group_row.push_back(first);
    for (std::size_t k = domains.size(); k-- > 0;) {
      const auto& places = domains[k].of_group[g];
      const auto rows = static_cast<std::uint32_t>(table.rows());
      key_rows[k].push_back(row != kNoRow ? row : rows + places[combination % places.size()]);
      if (row == kNoRow) combination /= places.size();
    }
  };
  for (std::size_t g = 0; g < group_count; ++g) {
    workers_.check_cancelled();
    std::uint64_t combinations = 1;
    for (const Domain& domain : domains) combinations *= domain.of_group[g].size();
    // The group's rows by their combination; incomplete ones come last.
    std::vector<std::pair<std::uint64_t, std::uint32_t>> own;
    Rows incomplete;
    for (const std::uint32_t row : rows_of.of(g)) {
      std::uint64_t combination = 0;
      bool whole = true;
      for (const Domain& domain : domains) {
        const auto& places = domain.of_group[g];
        whole = whole && domain.place_of_row[row] != kNoRow;
        if (!whole) break;
        const auto at = std::ranges::lower_bound(places, domain.place_of_row[row]);
        combination = combination * places.size() + static_cast<std::uint64_t>(at - places.begin());
      }
      if (whole) {
        own.emplace_back(combination, row);
      } else {
        incomplete.push_back(row);
      }
    }
    std::ranges::stable_sort(own, {}, &std::pair<std::uint64_t, std::uint32_t>::first);
    const std::uint32_t first = rows_of.of(g)[0];
    std::size_t next = 0;
    for (std::uint64_t combination = 0; combination < combinations; ++combination) {
      if (next == own.size() || own[next].first != combination) emit(kNoRow, first, combination, g);
      for (; next < own.size() && own[next].first == combination; ++next) emit(own[next].second, first, 0, g);
    }
    for (const std::uint32_t row : incomplete) emit(row, first, 0, g);
  }

  const Table picked_rows = table.take(from, workers_);
  const auto groups_rows = std::make_shared<const Rows>(std::move(group_row));
  Table result(from.size());
  for (std::size_t i = 0; i < table.width(); ++i) {
    const auto key = std::ranges::find(key_places, i);
    if (key != key_places.end()) {
      const auto k = static_cast<std::size_t>(key - key_places.begin());
      const Column parts[] = {table.column(i, workers_), domains[k].values};
      result.add(table.name(i), LazyColumn(concatenated(parts), std::make_shared<const Rows>(std::move(key_rows[k]))));
    } else if (std::ranges::find(per_places, i) != per_places.end()) {
      result.add(table.name(i), LazyColumn(table.column(i, workers_), groups_rows));
    } else {
      result.add(table.name(i), picked_rows.fields()[i].column);
    }
  }
  return result;
}

}  // namespace glmhost::table
