// window: a value for each row from the rows around it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/function.h"
#include "excel-addin/table/run.h"
#include "excel-addin/table/table_error.h"

namespace glmhost::table {
namespace {

using formula::ErrorCode;
using formula::NodeId;
using formula::Value;

// The rows of each partition in the window's order.
struct Partitions {
  std::vector<std::uint32_t> offsets;
  Rows rows;
  std::span<const std::uint32_t> of(std::size_t i) const {
    return std::span(rows).subspan(offsets[i], offsets[i + 1] - offsets[i]);
  }
  std::size_t count() const { return offsets.size() - 1; }
};

Partitions partitions_of(const Grouping& grouping, const Rows& order) {
  std::vector<std::uint32_t> group_of(grouping.space);
  for (std::size_t g = 0; g < grouping.groups(); ++g) group_of[grouping.order[g]] = static_cast<std::uint32_t>(g);
  Partitions result;
  result.offsets.assign(grouping.groups() + 1, 0);
  for (const std::uint32_t id : grouping.ids.span()) ++result.offsets[group_of[id] + 1];
  for (std::size_t g = 0; g < grouping.groups(); ++g) result.offsets[g + 1] += result.offsets[g];
  std::vector<std::uint32_t> places(result.offsets.begin(), result.offsets.end() - 1);
  result.rows.resize(order.size());
  for (const std::uint32_t row : order) result.rows[places[group_of[grouping.ids[row]]]++] = row;
  return result;
}

struct Call {
  const formula::Call& call;
  std::vector<Column> columns;   // an argument for each row
  std::vector<Value> constants;  // or, where it names no column, its value
  std::vector<bool> is_column;
  std::vector<bool> picked;  // by `where`; empty: all

  std::string_view name() const { return call.function->name; }
  Value argument(std::size_t i, std::uint32_t row) const { return is_column[i] ? columns[i].value(row) : constants[i]; }
  bool is_picked(std::uint32_t row) const { return picked.empty() || picked[row]; }
};

Value whole_number(const Value& value, double least) {
  if (value.is_error()) return value;
  if (!value.is_number() || std::floor(value.number()) < least) return ErrorCode::number;
  return Value(std::floor(value.number()));
}

// LAG and LEAD, ROWNUMBER, RANK, DENSERANK, NTILE. False when the function is another.
bool by_place(const Call& call, std::span<const std::uint32_t> rows,
              const std::vector<std::vector<std::uint64_t>>& keys, std::vector<Value>& out) {
  const std::string_view name = call.name();
  const auto same_key = [&](std::size_t a, std::size_t b) {
    return std::ranges::all_of(keys, [&](const auto& key) { return key[rows[a]] == key[rows[b]]; });
  };
  if (name == "LAG" || name == "LEAD") {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Value distance = call.constants.size() > 1 ? whole_number(call.argument(1, rows[i]), 0) : Value(1.0);
      if (distance.is_error()) {
        out[rows[i]] = distance;
        continue;
      }
      const double at = static_cast<double>(i) + (name == "LAG" ? -distance.number() : distance.number());
      const bool inside = at >= 0 && at < static_cast<double>(rows.size());
      out[rows[i]] = inside                      ? call.argument(0, rows[static_cast<std::size_t>(at)])
                     : call.constants.size() > 2 ? call.argument(2, rows[i])
                                                 : Value();
    }
    return true;
  }
  if (name == "ROWNUMBER") {
    for (std::size_t i = 0; i < rows.size(); ++i) out[rows[i]] = Value(static_cast<double>(i + 1));
    return true;
  }
  if (name == "RANK" || name == "DENSERANK") {
    std::size_t place = 0, dense = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i == 0 || !same_key(i, i - 1)) {
        place = i + 1;
        ++dense;
      }
      out[rows[i]] = Value(static_cast<double>(name == "RANK" ? place : dense));
    }
    return true;
  }
  if (name == "NTILE") {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Value buckets = whole_number(call.argument(0, rows[i]), 1);
      if (buckets.is_error()) {
        out[rows[i]] = buckets;
        continue;
      }
      // The first buckets are one larger where the rows do not come out even.
      const auto n = static_cast<std::size_t>(std::min(buckets.number(), static_cast<double>(rows.size())));
      const std::size_t size = rows.size() / n, larger = rows.size() % n, in_larger = larger * (size + 1);
      out[rows[i]] =
          Value(static_cast<double>(i < in_larger ? i / (size + 1) + 1 : larger + (i - in_larger) / size + 1));
    }
    return true;
  }
  return false;
}

// SUM, COUNT, AVERAGE, MIN and MAX from the start of the partition to the current row, one step a row.
bool running(const Call& call, std::span<const std::uint32_t> rows, std::vector<Value>& out) {
  const std::string_view name = call.name();
  const bool counts_rows = name == "COUNT" && call.constants.empty();
  const bool known = name == "SUM" || name == "COUNT" || name == "AVERAGE" || name == "MIN" || name == "MAX";
  if (!known || (!counts_rows && (call.constants.size() != 1 || !call.is_column[0]))) return false;
  formula::CompensatedSum sum;
  double count = 0, extreme = 0;
  std::optional<ErrorCode> error;
  for (const std::uint32_t row : rows) {
    if (call.is_picked(row)) {
      const Value value = counts_rows ? Value(1.0) : call.argument(0, row);
      if (value.is_error() && name != "COUNT" && !error) error = value.error();
      if (value.is_number()) {
        sum.add(value.number());
        const bool better = name == "MIN" ? value.number() < extreme : value.number() > extreme;
        if (count == 0 || better) extreme = value.number();
        ++count;
      }
    }
    if (error) {
      out[row] = *error;
    } else if (name == "SUM") {
      out[row] = formula::finite(sum.value());
    } else if (name == "COUNT") {
      out[row] = Value(count);
    } else if (name == "AVERAGE") {
      out[row] = count == 0 ? Value(ErrorCode::division) : formula::finite(sum.value() / count);
    } else {
      out[row] = Value(extreme);
    }
  }
  return true;
}

// Of each row of a partition, where its frame begins and ends in the partition.
using FrameEnds = std::vector<std::pair<std::size_t, std::size_t>>;

FrameEnds ends_by_rows(std::size_t rows, const Frame& frame) {
  const auto size = static_cast<std::int64_t>(rows);
  FrameEnds ends;
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t begin = frame.before ? std::clamp<std::int64_t>(i - *frame.before, 0, size) : 0;
    const std::int64_t end = frame.after ? std::clamp<std::int64_t>(i + *frame.after + 1, begin, size) : size;
    ends.emplace_back(static_cast<std::size_t>(begin), static_cast<std::size_t>(end));
  }
  return ends;
}

// A row whose key is no number has those with the same key in its frame, and what lies beyond where an end is open.
FrameEnds ends_by_range(std::span<const std::uint32_t> rows, const RangeFrame& frame, const SortColumn& order,
                        const std::vector<std::uint64_t>& keys) {
  const auto is_numeric = [&](std::uint32_t row) { return is_number(order.column.tag(row)); };
  const auto number = [&](std::uint32_t row) {
    const double value =
        order.column.type() == ColumnType::number ? order.column.numbers()[row] : order.column.payloads()[row];
    return order.descending ? -value : value;
  };
  // The numbers stand together.
  const auto first = std::ranges::find_if(rows, is_numeric);
  const auto last = std::find_if_not(first, rows.end(), is_numeric);
  const auto place = [&](auto iterator) { return static_cast<std::size_t>(iterator - rows.begin()); };
  FrameEnds ends;
  for (const std::uint32_t row : rows) {
    auto begin = rows.begin(), end = rows.end();
    if (is_numeric(row)) {
      const double own = number(row);
      if (frame.first)
        begin = std::lower_bound(first, last, own + *frame.first,
                                 [&](std::uint32_t other, double wanted) { return number(other) < wanted; });
      if (frame.last)
        end = std::upper_bound(first, last, own + *frame.last,
                               [&](double wanted, std::uint32_t other) { return wanted < number(other); });
    } else {
      const auto below = [&](std::uint32_t other, std::uint64_t wanted) { return keys[other] < wanted; };
      const auto above = [&](std::uint64_t wanted, std::uint32_t other) { return wanted < keys[other]; };
      if (frame.first) begin = std::lower_bound(rows.begin(), rows.end(), keys[row], below);
      if (frame.last) end = std::upper_bound(rows.begin(), rows.end(), keys[row], above);
    }
    ends.emplace_back(place(begin), std::max(place(begin), place(end)));
  }
  return ends;
}

// Any aggregate over the rows of each frame.
void by_frames(const Call& call, std::span<const std::uint32_t> rows, const FrameEnds& ends, Workers& workers,
               std::vector<Value>& out) {
  formula::Context context;
  context.most_cells = std::numeric_limits<std::size_t>::max();
  const bool counts_rows = call.name() == "COUNT" && call.constants.empty();
  std::vector<Value> given;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    workers.check_cancelled();
    std::vector<std::uint32_t> inside;
    for (std::size_t k = ends[i].first; k < ends[i].second; ++k) {
      if (call.is_picked(rows[k])) inside.push_back(rows[k]);
    }
    Value& result = out[rows[i]];
    if (counts_rows) {
      result = Value(static_cast<double>(inside.size()));
      continue;
    }
    given.clear();
    for (std::size_t a = 0; a < call.constants.size(); ++a) {
      if (!call.is_column[a]) {
        given.push_back(call.constants[a]);
        continue;
      }
      std::vector<Value> cells;
      for (const std::uint32_t row : inside) cells.push_back(call.columns[a].value(row));
      const std::size_t count = cells.size();
      if (count == 0) {
        given.emplace_back(formula::Array(1, 1));
      } else {
        given.emplace_back(formula::Array(count, 1, std::move(cells)));
      }
    }
    result = Value(formula::call(*call.call.function, given, context).scalar());
  }
}

bool is_of_place(std::string_view name) {
  constexpr std::string_view kNames[] = {"LAG", "LEAD", "ROWNUMBER", "RANK", "DENSERANK", "NTILE"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

}  // namespace

Column Run::window_column(const Expression& expression, const Window& stage, const Table& table, Groups& groups,
                          const Rows& order) {
  std::vector<std::vector<std::uint64_t>> keys;
  const std::vector<SortColumn> order_by = sort_columns(stage.sort, table);
  for (const SortColumn& each : order_by) keys.push_back(sort_keys(each, workers_));
  const Partitions partitions = partitions_of(groups.grouping(), order);
  std::vector<std::pair<NodeId, Column>> computed;
  for (const NodeId id : aggregate_calls(expression.tree)) {
    const auto& node = std::get<formula::Call>(expression.tree[id].content);
    const std::string_view name = node.function->name;
    const SourceSpan span = expression.tree[id].span;
    if (stage.sort.empty() && (name == "RANK" || name == "DENSERANK")) {
      throw formula::SyntaxError(
          std::string(name) + " needs an order: write `sort` and a column before the parenthesis.", span.offset,
          name.size());
    }
    if (node.where && is_of_place(name))
      throw formula::SyntaxError(std::string(name) + " takes no `where`.", span.offset, name.size());
    if (!is_of_place(name) && stage.sort.empty() && !stage.rows && !stage.range) {
      // One value for the whole partition.
      const Column by_group = aggregate(expression.tree, id, scope(table), groups, workers_);
      std::vector<std::uint32_t> group_of(groups.grouping().space);
      for (std::size_t g = 0; g < groups.grouping().groups(); ++g)
        group_of[groups.grouping().order[g]] = static_cast<std::uint32_t>(g);
      Rows from(table.rows());
      for (std::size_t row = 0; row < from.size(); ++row) from[row] = group_of[groups.grouping().ids[row]];
      computed.emplace_back(id, gather(by_group, from, workers_));
      continue;
    }
    Call call{node, {}, {}, {}, {}};
    for (const NodeId argument : expression.tree.arguments_of(node)) {
      const bool column = names_column(expression.tree, argument, table);
      const auto& content = expression.tree[argument].content;
      const auto* literal = std::get_if<formula::Literal>(&content);
      call.is_column.push_back(column || literal == nullptr);
      call.constants.push_back(literal != nullptr ? literal->value : Value());
      call.columns.push_back(call.is_column.back() ? evaluate(expression.tree, argument, scope(table), workers_)
                                                   : Column());
    }
    if (node.where) {
      call.picked.assign(table.rows(), false);
      for (const std::uint32_t row : matching(expression.tree, *node.where, scope(table), workers_).rows)
        call.picked[row] = true;
    }
    const Frame frame = stage.rows.value_or(Frame{std::nullopt, 0});
    const bool from_start = !stage.range && !frame.before && frame.after == 0;
    std::vector<Value> out(table.rows());
    workers_.run(partitions.count(), [&](std::size_t i) {
      const auto rows = partitions.of(i);
      if (by_place(call, rows, keys, out)) return;
      if (from_start && running(call, rows, out)) return;
      const FrameEnds ends =
          stage.range ? ends_by_range(rows, *stage.range, order_by[0], keys[0]) : ends_by_rows(rows.size(), frame);
      by_frames(call, rows, ends, workers_, out);
    });
    computed.emplace_back(id, Column::of(out));
  }
  return evaluate(expression, {table, values_, &computed}, workers_);
}

Table Run::apply(const Window& stage, const Table& table) {
  Groups groups(group_rows(columns_named(stage.per, table), table.rows(), workers_), workers_);
  const Rows order = sorted_rows(sort_columns(stage.sort, table), table.rows(), workers_);
  Table result = table;
  for (const Assignment& each : stage.columns)
    result.set(each.name, window_column(each.value, stage, table, groups, order));
  return result;
}

}  // namespace glmhost::table
