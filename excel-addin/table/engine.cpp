#include "excel-addin/table/engine.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "excel-addin/formula/text_units.h"
#include "excel-addin/formula/wildcard.h"
#include "excel-addin/table/csv_writer.h"
#include "excel-addin/table/joining.h"
#include "excel-addin/table/run.h"
#include "excel-addin/table/table_error.h"

namespace glmhost::table {
namespace {

std::size_t rows_of(const Amount& amount, std::size_t rows) {
  if (amount.percent)
    return static_cast<std::size_t>(std::floor(static_cast<double>(rows) * amount.count / 100 + 1e-9));
  return amount.count >= static_cast<double>(rows) ? rows : static_cast<std::size_t>(amount.count);
}

std::string type_name(ColumnType type) {
  constexpr const char* kNames[] = {"empty", "number", "text", "boolean", "mixed"};
  return kNames[static_cast<int>(type)];
}

}  // namespace

Table Run::run(const Pipeline& pipeline, Table table) {
  const bool outermost = depth_++ == 0;
  for (std::size_t i = 0; i < pipeline.stages.size(); ++i) {
    const Stage& stage = pipeline.stages[i];
    workers_.check_cancelled();
    if (outermost && options_.on_stage) options_.on_stage(i, pipeline.stages.size(), text_of(stage.span));
    table = std::visit([&](const auto& content) { return apply(content, table); }, stage.content);
  }
  --depth_;
  return table;
}

std::vector<Column> Run::columns_named(const std::vector<ColumnName>& names, const Table& table) {
  std::vector<Column> columns;
  for (const ColumnName& name : names) columns.push_back(table.column(place(name, table), workers_));
  return columns;
}

std::vector<std::size_t> Run::picked(const std::vector<Pick>& picks, const Table& table) const {
  std::vector<std::size_t> places;
  const auto add = [&](std::size_t i) {
    if (std::ranges::find(places, i) == places.end()) places.push_back(i);
  };
  for (const Pick& pick : picks) {
    if (const auto* name = std::get_if<ColumnName>(&pick.what)) add(place(*name, table));
    if (const auto* pattern = std::get_if<std::string>(&pick.what)) {
      const formula::Wildcard wildcard(*pattern);
      bool any = false;
      for (std::size_t i = 0; i < table.width(); ++i) {
        if (!wildcard.matches(table.name(i))) continue;
        add(i);
        any = true;
      }
      if (!any)
        throw formula::SyntaxError("No column's name matches \"" + *pattern + "\".", pick.span.offset,
                                   pick.span.length);
    }
  }
  return places;
}

std::vector<SortColumn> Run::sort_columns(const std::vector<SortKey>& keys, const Table& table) {
  std::vector<SortColumn> columns;
  for (const SortKey& key : keys) columns.push_back({evaluate(key.value, scope(table), workers_), key.descending});
  return columns;
}

Table Run::opened(const Source& source, const Table& current) {
  if (source.pipeline) return run(*source.pipeline, current);
  for (const auto& [name, table] : tables_) {
    if (formula::equal_without_case(name, source.name)) return table;
  }
  for (const std::string& name : making_) {
    if (formula::equal_without_case(name, source.name)) {
      throw formula::SyntaxError("`" + source.name + "` is made from itself.", source.span.offset, source.span.length);
    }
  }
  if (!options_.open_table)
    throw formula::SyntaxError("There is no table `" + formula::valid_utf8(source.name) + "`.", source.span.offset,
                               source.span.length);
  return options_.open_table(source.name);
}

void Run::note_errors(const Matches& matches, const Expression& condition) {
  if (matches.errors == 0) return;
  notes_.push_back("`" + text_of(condition.span) + "` is an error in " + std::to_string(matches.errors) +
                   (matches.errors == 1 ? " row" : " rows") + ", which the filter leaves out; the first is row " +
                   std::to_string(matches.first_error_row + 1) + ": " +
                   std::string(formula::error_name(matches.first_error)) + ".");
}

Table Run::apply(const From& stage, const Table& table) {
  return opened(stage.source, table);
}

Table Run::apply(const Select& stage, const Table& table) {
  if (stage.exclude) {
    const auto excluded = picked(stage.picks, table);
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < table.width(); ++i) {
      if (std::ranges::find(excluded, i) == excluded.end()) kept.push_back(i);
    }
    return table.select(kept);
  }
  Table result(table.rows());
  for (const Pick& pick : stage.picks) {
    if (const auto* assignment = std::get_if<Assignment>(&pick.what)) {
      result.add(free_name(result, assignment->name), LazyColumn(evaluate(assignment->value, scope(table), workers_)));
      continue;
    }
    for (const std::size_t i : picked({pick}, table)) {
      if (!result.find(table.name(i))) result.add(table.name(i), table.fields()[i].column);
    }
  }
  return result;
}

Table Run::apply(const Rename& stage, Table table) {
  std::vector<std::size_t> places;
  for (const auto& [name, old] : stage.names) places.push_back(place(old, table));
  for (std::size_t i = 0; i < places.size(); ++i) table.rename(places[i], stage.names[i].first);
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t other = 0; other < table.width(); ++other) {
      if (other == places[i] || !formula::equal_without_case(table.name(other), stage.names[i].first)) continue;
      const SourceSpan span = stage.names[i].second.span;
      throw formula::SyntaxError("There would be two columns `" + stage.names[i].first + "`.", span.offset,
                                 span.length);
    }
  }
  return table;
}

Table Run::apply(const Derive& stage, Table table) {
  for (const Assignment& each : stage.columns) {
    Column column = evaluate(each.value, scope(table), workers_);
    if (table.width() == 0) {
      table.add(each.name, LazyColumn(std::move(column)));
    } else {
      table.set(each.name, std::move(column));
    }
  }
  return table;
}

Table Run::apply(const Filter& stage, const Table& table) {
  Matches matches = matching(stage.condition, scope(table), workers_);
  note_errors(matches, stage.condition);
  if (matches.rows.size() == table.rows()) return table;
  return table.take(std::move(matches.rows), workers_);
}

Table Run::apply(const Sort& stage, const Table& table) {
  return table.take(sorted_rows(sort_columns(stage.keys, table), table.rows(), workers_), workers_);
}

Table Run::apply(const Limit& stage, const Table& table) {
  const auto range = [&](std::size_t rows) {
    const std::size_t count = rows_of(stage.amount, rows);
    return stage.skip ? std::pair(count, rows) : std::pair(std::size_t{0}, count);
  };
  const std::vector<SortColumn> by = sort_columns(stage.by, table);
  if (stage.per.empty()) {
    const auto [begin, end] = range(table.rows());
    if (by.empty()) return table.slice(begin, end - begin, workers_);
    Rows order = sorted_rows(by, table.rows(), workers_);
    return table.take(
        Rows(order.begin() + static_cast<std::ptrdiff_t>(begin), order.begin() + static_cast<std::ptrdiff_t>(end)),
        workers_);
  }
  Groups groups(group_rows(columns_named(stage.per, table), table.rows(), workers_), workers_);
  const GroupRows& by_group = groups.rows();
  std::vector<std::vector<std::uint64_t>> keys;
  for (const SortColumn& each : by) keys.push_back(sort_keys(each, workers_));
  const std::size_t count = groups.grouping().groups();
  std::vector<std::uint32_t> offsets(count + 1);
  for (std::size_t g = 0; g < count; ++g) {
    const auto [begin, end] = range(by_group.of(g).size());
    offsets[g + 1] = offsets[g] + static_cast<std::uint32_t>(end - begin);
  }
  Rows rows(offsets[count]);
  constexpr std::size_t kGroupsATask = 256;
  workers_.run((count + kGroupsATask - 1) / kGroupsATask, [&](std::size_t task) {
    Rows sorted;
    for (std::size_t g = task * kGroupsATask; g < std::min(count, (task + 1) * kGroupsATask); ++g) {
      const auto own = by_group.of(g);
      const auto [begin, end] = range(own.size());
      sorted.assign(own.begin(), own.end());
      if (!keys.empty()) {
        std::partial_sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(end), sorted.end(),
                          [&](std::uint32_t a, std::uint32_t b) {
                            for (const auto& key : keys) {
                              if (key[a] != key[b]) return key[a] < key[b];
                            }
                            return a < b;
                          });
      }
      std::copy(sorted.begin() + static_cast<std::ptrdiff_t>(begin), sorted.begin() + static_cast<std::ptrdiff_t>(end),
                rows.begin() + offsets[g]);
    }
  });
  if (keys.empty()) std::ranges::sort(rows);  // without an order of their own, rows stay where they were
  return table.take(std::move(rows), workers_);
}

Table Run::apply(const Sample& stage, const Table& table) {
  const std::size_t count = rows_of(stage.amount, table.rows());
  Rows rows(table.rows());
  std::iota(rows.begin(), rows.end(), 0u);
  std::mt19937_64 random(stage.seed);
  for (std::size_t i = 0; i < count; ++i) std::swap(rows[i], rows[i + random() % (rows.size() - i)]);
  rows.resize(count);
  std::ranges::sort(rows);
  return table.take(std::move(rows), workers_);
}

Table Run::apply(const Distinct& stage, const Table& table) {
  std::vector<Column> keys = columns_named(stage.columns, table);
  for (std::size_t i = 0; stage.columns.empty() && i < table.width(); ++i) keys.push_back(table.column(i, workers_));
  if (keys.empty() || table.rows() == 0) return table;
  return table.take(group_rows(keys, table.rows(), workers_).first_rows, workers_);
}

Table Run::key_table(const std::vector<Assignment>& keys, const Table& table) {
  Table result(table.rows());
  for (const Assignment& key : keys)
    result.add(free_name(result, key.name), LazyColumn(evaluate(key.value, scope(table), workers_)));
  return result;
}

// One row for each group by the keys in use; the others are empty.
Table Run::grouped(const std::vector<Assignment>& aggregates, const Table& keys, const std::vector<bool>& used,
                   const Table& table) {
  std::vector<Column> columns;
  for (std::size_t i = 0; i < keys.width(); ++i) {
    if (used[i]) columns.push_back(keys.column(i, workers_));
  }
  Groups groups(group_rows(columns, table.rows(), workers_), workers_);
  const Table picked_keys = keys.take(groups.grouping().first_rows, workers_);
  Table result(groups.grouping().groups());
  for (std::size_t i = 0; i < keys.width(); ++i) {
    result.add(keys.name(i), used[i] ? picked_keys.fields()[i].column : LazyColumn(Column::empties(result.rows())));
  }
  const Table own_keys = result;
  for (const Assignment& each : aggregates) {
    result.add(free_name(result, each.name),
               LazyColumn(evaluate_groups(each.value, scope(table), own_keys, groups, workers_)));
  }
  return result;
}

Table Run::apply(const Group& stage, const Table& table) {
  const Table keys = key_table(stage.keys, table);
  const std::size_t width = keys.width();
  std::vector<bool> used(width, true);
  Table result = grouped(stage.aggregates, keys, used, table);
  if (stage.totals == Totals::none || width == 0) return result;
  // Which keys each further grouping leaves out, fewest first.
  std::vector<std::uint32_t> subsets;
  const std::uint32_t all = (std::uint32_t{1} << width) - 1;
  if (stage.totals == Totals::total) subsets = {0};
  if (stage.totals == Totals::rollup) {
    for (std::size_t kept = width; kept-- > 0;) subsets.push_back((std::uint32_t{1} << kept) - 1);
  }
  if (stage.totals == Totals::cube) {
    for (std::uint32_t subset = all; subset-- > 0;) subsets.push_back(subset);
  }
  for (const std::uint32_t subset : subsets) {
    for (std::size_t i = 0; i < width; ++i) used[i] = (subset >> i & 1) != 0;
    result = stacked(result, grouped(stage.aggregates, keys, used, table));
  }
  return result;
}

Table Run::stacked(const Table& first, const Table& second) {
  const std::size_t rows = first.rows() + second.rows();
  if (rows > options_.most_rows)
    throw TableError("The table would have " + std::to_string(rows) + " rows, more than the " +
                     std::to_string(options_.most_rows) + " that are allowed.");
  Table result(rows);
  const auto part = [&](const Table& table, const std::string& name) {
    const auto place_there = table.find(name);
    return place_there ? table.column(*place_there, workers_) : Column::empties(table.rows());
  };
  const auto add = [&](const std::string& name) {
    if (result.find(name)) return;
    const Column parts[] = {part(first, name), part(second, name)};
    result.add(name, LazyColumn(concatenated(parts)));
  };
  for (const Field& field : first.fields()) add(field.name);
  for (const Field& field : second.fields()) add(field.name);
  return result;
}

Table Run::apply(const SetOperation& stage, const Table& table) {
  const Table other = opened(stage.other, table);
  const auto distinct = [&](const Table& any) { return apply(Distinct{}, any); };
  if (stage.kind == SetKind::append) return stacked(table, other);
  if (stage.kind == SetKind::set_union) return distinct(stacked(table, other));
  for (const Table* each : {&table, &other}) {
    const Table& opposite = each == &table ? other : table;
    for (const Field& field : each->fields()) {
      if (opposite.find(field.name)) continue;
      throw formula::SyntaxError(
          "Both tables need the same columns; only one has `" + formula::valid_utf8(field.name) + "`.",
          stage.other.span.offset, std::max<std::size_t>(stage.other.span.length, 1));
    }
  }
  const Table both = stacked(table, other);
  std::vector<Column> keys;
  for (std::size_t i = 0; i < both.width(); ++i) keys.push_back(both.column(i, workers_));
  const Grouping grouping = group_rows(keys, both.rows(), workers_);
  std::vector<bool> in_other(grouping.space);
  for (std::size_t row = table.rows(); row < both.rows(); ++row) in_other[grouping.ids[row]] = true;
  Rows rows;
  for (std::size_t g = 0; g < grouping.groups(); ++g) {
    const bool both_have = in_other[grouping.order[g]];
    if (grouping.first_rows[g] < table.rows() && both_have == (stage.kind == SetKind::intersect))
      rows.push_back(grouping.first_rows[g]);
  }
  return table.take(std::move(rows), workers_);
}

Table Run::apply(const Join& stage, const Table& table) {
  const Table other = opened(stage.right, table);
  // Of the equal keys; the rest is in `rules`.
  std::vector<Column> left_keys, right_keys;
  std::vector<std::size_t> left_places, right_places;
  std::vector<PairRule> rules;
  for (const JoinKey& key : stage.keys) {
    const std::size_t left_place = place(key.left, table);
    const std::size_t right_place = column_place(key.right.name, key.right.span, other);
    PairRule rule{key.compare, table.column(left_place, workers_), other.column(right_place, workers_)};
    const bool alike = stage.match == JoinMatch::most_alike && &key == &stage.keys[0];
    const auto single = [](const Column& column) {
      return column.type() != ColumnType::mixed && column.type() != ColumnType::empty;
    };
    if (!alike && single(rule.left) && single(rule.right) && rule.left.type() != rule.right.type()) {
      throw formula::SyntaxError("The keys of this join cannot match: `" + formula::valid_utf8(table.name(left_place)) +
                                     "` is " + type_name(rule.left.type()) + ", `" +
                                     formula::valid_utf8(other.name(right_place)) + "` of the other table is " +
                                     type_name(rule.right.type()) + ". Convert one with VALUE() or TEXT().",
                                 key.left.span.offset, key.left.span.length);
    }
    if (alike || key.compare != Compare::equal) {
      rules.push_back(std::move(rule));
      continue;
    }
    left_places.push_back(left_place);
    right_places.push_back(right_place);
    left_keys.push_back(std::move(rule.left));
    right_keys.push_back(std::move(rule.right));
  }
  JoinedRows joined;
  std::vector<double> scores;
  const std::size_t most = options_.most_rows;
  if (stage.match == JoinMatch::most_alike) {
    FuzzyRows alike = join_rows_alike(stage.kind, stage.least_score, rules[0].left, rules[0].right, left_keys,
                                      right_keys, table.rows(), other.rows(), most, workers_);
    joined = std::move(alike.rows);
    scores = std::move(alike.scores);
  } else if (!rules.empty()) {
    joined = join_rows_where(stage.kind, stage.match == JoinMatch::nearest, left_keys, right_keys, rules, table.rows(),
                             other.rows(), most, workers_);
  } else {
    joined = join_rows(stage.kind, left_keys, right_keys, table.rows(), other.rows(), most, workers_);
  }
  const std::size_t rows = joined.left.size();
  const bool left_as_it_is = joined.all_left_once && rows == table.rows();
  if (stage.kind == JoinKind::semi || stage.kind == JoinKind::anti) return table.take(std::move(joined.left), workers_);
  const Table rights = other.take(joined.right, workers_);
  const bool unmatched_rights = stage.kind == JoinKind::right || stage.kind == JoinKind::full;
  const Table lefts = left_as_it_is ? table : table.take(joined.left, workers_);
  Table result(rows);
  for (std::size_t i = 0; i < lefts.width(); ++i) {
    const auto key = std::ranges::find(left_places, i);
    if (!unmatched_rights || key == left_places.end()) {
      result.add(lefts.name(i), lefts.fields()[i].column);
      continue;
    }
    // Rows of the right side alone bring their key with them.
    const Column& right_key = right_keys[static_cast<std::size_t>(key - left_places.begin())];
    const Column both[] = {table.column(i, workers_), right_key};
    Rows from(rows);
    for (std::size_t row = 0; row < rows; ++row) {
      from[row] =
          joined.left[row] != kNoRow ? joined.left[row] : static_cast<std::uint32_t>(table.rows() + joined.right[row]);
    }
    result.add(lefts.name(i), LazyColumn(concatenated(both), std::make_shared<const Rows>(std::move(from))));
  }
  const std::string prefix = stage.right.pipeline ? "right" : stage.right.name;
  for (std::size_t i = 0; i < rights.width(); ++i) {
    if (std::ranges::find(right_places, i) != right_places.end()) continue;
    std::string name = rights.name(i);
    if (result.find(name)) {
      const std::string free = free_name(result, prefix + "." + name);
      notes_.push_back("Both tables of the join have a column `" + formula::valid_utf8(name) +
                       "`; that of the right one is called `" + formula::valid_utf8(free) + "`.");
      name = free;
    }
    result.add(name, rights.fields()[i].column);
  }
  if (stage.match == JoinMatch::most_alike) {
    Buffer<double> cells(rows);
    Buffer<std::uint64_t> valid(bitmap_words(rows));
    std::ranges::fill(valid.span(), std::uint64_t{0});
    for (std::size_t row = 0; row < rows; ++row) {
      cells[row] = scores[row];
      if (joined.left[row] != kNoRow && joined.right[row] != kNoRow) valid[row >> 6] |= std::uint64_t{1} << (row & 63);
    }
    result.add(free_name(result, "score"), LazyColumn(Column::numbers(std::move(cells), std::move(valid))));
  }
  return result;
}

Table Run::apply(const Assert& stage, const Table& table) {
  const Matches matches = matching(stage.condition, scope(table), workers_);
  if (matches.rows.size() == table.rows()) return table;
  constexpr std::size_t kMostShown = 5;
  std::string sentence = stage.message.empty() ? "The check `" + text_of(stage.condition.span) + "` fails"
                                               : stage.message + " The check fails";
  const std::size_t failing = table.rows() - matches.rows.size();
  sentence += " in " + std::to_string(failing) + (failing == 1 ? " row:" : " rows:");
  std::size_t shown = 0, next = 0;
  for (std::size_t row = 0; row < table.rows() && shown < kMostShown; ++row) {
    if (next < matches.rows.size() && matches.rows[next] == row) {
      ++next;
      continue;
    }
    ++shown;
    sentence += "\n  row " + std::to_string(row + 1) + ":";
    for (std::size_t i = 0; i < table.width(); ++i) {
      sentence += (i > 0 ? ", " : " ") + formula::valid_utf8(table.name(i)) + " = " +
                  shown_text(table.column(i, workers_).value(row));
    }
  }
  if (failing > shown) sentence += "\n  and " + std::to_string(failing - shown) + " more";
  throw TableError(sentence);
}

Table Run::apply(const Let& stage, Table table) {
  if (const auto* expression = std::get_if<Expression>(&stage.value)) {
    formula::Value value = constant_value(*expression, values_);
    std::erase_if(values_, [&](const NamedValue& each) { return formula::equal_without_case(each.name, stage.name); });
    values_.push_back({stage.name, std::move(value)});
    return table;
  }
  making_.push_back(stage.name);
  Table made = run(*std::get<std::shared_ptr<const Pipeline>>(stage.value), table);
  making_.pop_back();
  std::erase_if(tables_, [&](const auto& each) { return formula::equal_without_case(each.first, stage.name); });
  tables_.emplace_back(stage.name, std::move(made));
  return table;
}

RunResult run_pipeline(const Pipeline& pipeline, std::string_view source, Table input, const RunOptions& options,
                       Workers& workers) {
  Run run(source, options, workers);
  Table table = run.run(pipeline, std::move(input));
  for (std::size_t i = 0; i < table.width(); ++i) table.column(i, workers);
  return {std::move(table), run.take_notes()};
}

}  // namespace glmhost::table
