#include "excel-addin/table/aggregate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/evaluator.h"
#include "excel-addin/formula/function.h"

namespace glmhost::table {
namespace {

using formula::ErrorCode;
using formula::NodeId;
using formula::SyntaxTree;
using formula::Value;

constexpr std::size_t kParts = 8;  // of the rows; the same on any number of threads, and so are the sums
constexpr std::size_t kSmallSpace = std::size_t{1} << 16;

struct Argument {
  bool is_column = false;
  Column column;   // of each row
  Value constant;  // where it names no column
};

// The sum and what rounding took from it (Knuth's two-sum: exact, and without a branch).
struct Sum {
  double sum = 0, lost = 0;
  void add(double x) {
    const double before = sum;
    sum = before + x;
    const double taken = sum - before;
    lost += (before - (sum - taken)) + (x - taken);
  }
  double value() const { return std::isfinite(sum) ? sum + lost : sum; }
};

struct Counted {
  Sum sum;
  std::uint32_t count = 0;
};
struct Extreme {
  double value = 0;
  std::uint32_t count = 0;
};

Column numbers_or_errors(std::size_t count, formula::NumberKind kind,
                         const std::function<Value(std::size_t)>& value_of) {
  Buffer<double> cells(count);
  bool plain = true;
  std::vector<Value> values;
  for (std::size_t i = 0; i < count; ++i) {
    Value value = value_of(i);
    if (plain && value.is_number()) {
      cells[i] = value.number();
      continue;
    }
    if (plain) {
      plain = false;
      for (std::size_t k = 0; k < i; ++k) values.emplace_back(cells[k], kind);
    }
    values.push_back(value.is_number() ? Value(value.number(), kind) : std::move(value));
  }
  return plain ? Column::numbers(std::move(cells), {}, kind) : Column::of(values);
}

class Aggregation {
 public:
  Aggregation(const SyntaxTree& tree, NodeId node, const Scope& scope, Groups& groups, Workers& workers)
      : call_(std::get<formula::Call>(tree[node].content)),
        groups_(groups),
        workers_(workers),
        rows_(scope.table.rows()) {
    for (const NodeId id : tree.arguments_of(call_)) {
      Argument argument;
      argument.is_column = names_column(tree, id, scope.table);
      if (argument.is_column) {
        argument.column = table::evaluate(tree, id, scope, workers);
      } else {
        formula::Context context;
        context.resolve_name = [&](const formula::Name& name) -> std::optional<Value> {
          for (const NamedValue& each : scope.values) {
            if (each.name == name.text) return each.value;
          }
          column_place(name, tree[id].span, scope.table);  // throws
          return std::nullopt;
        };
        argument.constant = formula::Evaluator(tree, context).evaluate(id);
      }
      arguments_.push_back(std::move(argument));
    }
    if (call_.where) {
      picked_.emplace(bitmap_words(rows_));
      std::fill_n(picked_->data(), picked_->size(), std::uint64_t{0});
      for (const std::uint32_t row : matching(tree, *call_.where, scope, workers).rows)
        (*picked_)[row >> 6] |= std::uint64_t{1} << (row & 63);
    }
    if (call_.function->lazy != nullptr) {
      throw formula::SyntaxError(std::string(call_.function->name) + " cannot be used over groups.",
                                 tree[node].span.offset, call_.function->name.size());
    }
  }

  Column run() {
    const std::string_view name = call_.function->name;
    if (name == "COUNT" && arguments_.empty()) return count_rows();
    const auto is_numeric = [](const Argument& argument) {
      return argument.is_column &&
             (argument.column.type() == ColumnType::number || argument.column.type() == ColumnType::empty);
    };
    if (arguments_.size() == 1 && arguments_[0].is_column && name == "COUNTA") return count_filled();
    if (!arguments_.empty() && is_numeric(arguments_[0])) {
      if (arguments_.size() == 1) {
        if (auto result = of_one(name)) return std::move(*result);
      } else if (arguments_.size() == 2 && is_numeric(arguments_[1])) {
        if (auto result = of_two(name)) return std::move(*result);
      } else if (arguments_.size() == 2 && arguments_[1].constant.is_number()) {
        if (auto result = of_place(name)) return std::move(*result);
      }
    }
    return by_library();
  }

 private:
  std::size_t group_count() const { return groups_.grouping().groups(); }

  // May the row be looked at, and has it a number?
  bool is_picked(std::size_t row) const { return !picked_ || ((*picked_)[row >> 6] >> (row & 63) & 1) != 0; }
  bool counts(const Column& column, std::size_t row) const {
    return column.type() != ColumnType::empty && column.is_valid(row) && is_picked(row);
  }

  // One accumulator a group: `add` is called for rows in order, `merge` joins what two parts of the rows have.
  template <class State, class Add, class Merge>
  std::vector<State> accumulated(const Add& add, const Merge& merge) {
    const Grouping& grouping = groups_.grouping();
    std::vector<State> result(group_count());
    const auto id_of_row = [ids = grouping.ids.data()](std::size_t row) { return ids[row]; };
    if (grouping.space <= kSmallSpace) {
      const std::size_t parts = rows_ > kSmallSpace ? kParts : 1, size = (rows_ + parts - 1) / parts;
      std::vector<std::vector<State>> states(parts);
      workers_.run(parts, [&](std::size_t part) {
        std::vector<State> own(grouping.space);
        add(id_of_row, part * size, std::min(rows_, (part + 1) * size), own.data());
        states[part] = std::move(own);
      });
      for (std::size_t g = 0; g < result.size(); ++g) {
        State& all = states[0][grouping.order[g]];
        for (std::size_t part = 1; part < parts; ++part) merge(all, states[part][grouping.order[g]]);
        result[g] = all;
      }
      return result;
    }
    if (rows_ / 2 > group_count() || grouping.space > 4 * group_count() + kSmallSpace) {
      by_ranges([&](std::size_t begin, std::size_t end) {
        for (std::size_t g = begin; g < end; ++g) {
          for (const std::uint32_t row : groups_.rows().of(g))
            add([](std::size_t) { return 0u; }, row, row + 1, &result[g]);
        }
      });
      return result;
    }
    // Nearly every row is a group: no order of rows pays.
    std::vector<State> states(grouping.space);
    add(id_of_row, 0, rows_, states.data());
    for (std::size_t g = 0; g < result.size(); ++g) result[g] = states[grouping.order[g]];
    return result;
  }
  void by_ranges(const std::function<void(std::size_t, std::size_t)>& task) {
    groups_.rows();  // made before the tasks read it
    const std::size_t groups = group_count(), size = std::max<std::size_t>(groups / 64, 1);
    workers_.run((groups + size - 1) / size, [&](std::size_t i) { task(i * size, std::min(groups, (i + 1) * size)); });
  }

  // Calls visit(row) for the rows with a number; the usual case without a test in the loop.
  template <class Visit>
  void each_number(const Column& column, std::size_t begin, std::size_t end, const Visit& visit) const {
    if (column.type() == ColumnType::number && column.valid() == nullptr && !picked_) {
      for (std::size_t row = begin; row < end; ++row) visit(row);
    } else {
      for (std::size_t row = begin; row < end; ++row) {
        if (counts(column, row)) visit(row);
      }
    }
  }

  Column counts_column(const std::vector<std::uint32_t>& counts_of_groups) const {
    Buffer<double> cells(counts_of_groups.size());
    std::copy(counts_of_groups.begin(), counts_of_groups.end(), cells.data());
    return Column::numbers(std::move(cells));
  }

  template <class Holds>
  Column count_if(const Holds& holds) {
    return counts_column(accumulated<std::uint32_t>(
        [&](const auto& id_of, std::size_t begin, std::size_t end, std::uint32_t* states) {
          for (std::size_t row = begin; row < end; ++row) states[id_of(row)] += holds(row);
        },
        [](std::uint32_t& all, std::uint32_t part) { all += part; }));
  }
  Column count_rows() {
    if (!picked_) return count_if([](std::size_t) { return true; });
    return count_if([&](std::size_t row) { return is_picked(row); });
  }
  Column count_filled() {
    const Column& column = arguments_[0].column;
    return count_if([&](std::size_t row) { return column.tag(row) != Tag::empty && is_picked(row); });
  }

  std::optional<Column> of_one(std::string_view name) {
    const Column& column = arguments_[0].column;
    const double* const cells = column.numbers();
    const auto kind = column.type() == ColumnType::number ? column.kind() : formula::NumberKind::plain;
    if (name == "COUNT") return count_if([&](std::size_t row) { return counts(column, row); });
    if (name == "SUM" || name == "AVERAGE") {
      const auto sums = accumulated<Counted>(
          [&](const auto& id_of, std::size_t begin, std::size_t end, Counted* states) {
            each_number(column, begin, end, [&](std::size_t row) {
              Counted& state = states[id_of(row)];
              state.sum.add(cells[row]);
              ++state.count;
            });
          },
          [](Counted& all, const Counted& part) {
            all.sum.add(part.sum.sum);
            all.sum.lost += part.sum.lost;
            all.count += part.count;
          });
      if (name == "SUM")
        return numbers_or_errors(sums.size(), formula::NumberKind::plain,
                                 [&](std::size_t g) { return formula::finite(sums[g].sum.value()); });
      return numbers_or_errors(sums.size(), kind, [&](std::size_t g) {
        return sums[g].count == 0 ? Value(ErrorCode::division) : formula::finite(sums[g].sum.value() / sums[g].count);
      });
    }
    if (name == "MIN" || name == "MAX") {
      const double sign = name == "MIN" ? 1 : -1;
      const auto better = [sign](Extreme& state, double value, std::uint32_t count) {
        if (count == 0) return;
        if (state.count == 0 || value * sign < state.value * sign) state.value = value;
        state.count += count;
      };
      const auto extremes = accumulated<Extreme>(
          [&](const auto& id_of, std::size_t begin, std::size_t end, Extreme* states) {
            each_number(column, begin, end, [&](std::size_t row) { better(states[id_of(row)], cells[row], 1); });
          },
          [&](Extreme& all, const Extreme& part) { better(all, part.value, part.count); });
      return numbers_or_errors(extremes.size(), kind, [&](std::size_t g) { return Value(extremes[g].value); });
    }
    if (name == "MEDIAN") return by_numbers(kind, median);
    const bool sample = name == "STDEV.S" || name == "STDEV" || name == "VAR.S" || name == "VAR";
    const bool root = name.starts_with("STDEV");
    if (sample || name == "STDEV.P" || name == "STDEVP" || name == "VAR.P" || name == "VARP") {
      return by_numbers(formula::NumberKind::plain,
                        [=](std::span<double> numbers) { return spread(numbers, sample, root); });
    }
    return std::nullopt;
  }

  static Value median(std::span<double> numbers) {
    if (numbers.empty()) return ErrorCode::number;
    const std::size_t middle = numbers.size() / 2;
    std::nth_element(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(middle), numbers.end());
    if (numbers.size() % 2 != 0) return Value(numbers[middle]);
    const double below = *std::max_element(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(middle));
    return formula::finite(below / 2 + numbers[middle] / 2 == (below + numbers[middle]) / 2
                               ? (below + numbers[middle]) / 2
                               : below / 2 + numbers[middle] / 2);
  }

  static Value spread(std::span<const double> numbers, bool sample, bool root) {
    if (numbers.size() < (sample ? 2u : 1u)) return ErrorCode::division;
    Sum sum;
    for (const double x : numbers) sum.add(x);
    const double mean = sum.value() / static_cast<double>(numbers.size());
    Sum squares;
    for (const double x : numbers) squares.add((x - mean) * (x - mean));
    const double variance = squares.value() / static_cast<double>(numbers.size() - (sample ? 1 : 0));
    return formula::finite(root ? std::sqrt(variance) : variance);
  }

  // The k-th largest or smallest.
  std::optional<Column> of_place(std::string_view name) {
    if (name != "LARGE" && name != "SMALL") return std::nullopt;
    const bool large = name == "LARGE";
    const double place = std::ceil(arguments_[1].constant.number());
    const auto kind =
        arguments_[0].column.type() == ColumnType::number ? arguments_[0].column.kind() : formula::NumberKind::plain;
    return by_numbers(kind, [=](std::span<double> numbers) -> Value {
      if (!(place >= 1) || place > static_cast<double>(numbers.size())) return ErrorCode::number;
      const auto at = numbers.begin() + static_cast<std::ptrdiff_t>(place) - 1;
      if (large) {
        std::nth_element(numbers.begin(), at, numbers.end(), std::greater<>());
      } else {
        std::nth_element(numbers.begin(), at, numbers.end());
      }
      return Value(*at);
    });
  }

  // The numbers of each group, in the order of rows, for a function that may reorder them.
  template <class Compute>
  Column by_numbers(formula::NumberKind kind, const Compute& compute) {
    const Column& column = arguments_[0].column;
    std::vector<Value> values(group_count());
    by_ranges([&](std::size_t begin, std::size_t end) {
      std::vector<double> numbers;
      for (std::size_t g = begin; g < end; ++g) {
        const auto rows = groups_.rows().of(g);
        numbers.clear();
        for (const std::uint32_t row : rows) {
          if (counts(column, row)) numbers.push_back(column.numbers()[row]);
        }
        values[g] = compute(std::span<double>(numbers));
      }
    });
    return numbers_or_errors(values.size(), kind, [&](std::size_t g) { return values[g]; });
  }

  // Pairs in which both are numbers.
  std::optional<Column> of_two(std::string_view name) {
    const bool squared = name == "RSQ";
    if (name != "CORREL" && name != "PEARSON" && !squared) return std::nullopt;
    const Column &first = arguments_[0].column, &second = arguments_[1].column;
    const auto both = [&](std::size_t row) { return counts(first, row) && counts(second, row); };
    struct Means {
      Sum x, y;
      std::uint32_t count = 0;
    };
    if (first.type() == ColumnType::empty || second.type() == ColumnType::empty) return std::nullopt;
    std::vector<Value> values(group_count());
    by_ranges([&](std::size_t begin, std::size_t end) {
      for (std::size_t g = begin; g < end; ++g) {
        const auto rows = groups_.rows().of(g);
        Means means;
        for (const std::uint32_t row : rows) {
          if (!both(row)) continue;
          means.x.add(first.numbers()[row]);
          means.y.add(second.numbers()[row]);
          ++means.count;
        }
        const double x_mean = means.x.value() / means.count, y_mean = means.y.value() / means.count;
        Sum xx, yy, xy;
        for (const std::uint32_t row : rows) {
          if (!both(row)) continue;
          const double x = first.numbers()[row] - x_mean, y = second.numbers()[row] - y_mean;
          xx.add(x * x);
          yy.add(y * y);
          xy.add(x * y);
        }
        const double r = xy.value() / (std::sqrt(xx.value()) * std::sqrt(yy.value()));
        values[g] = means.count < 2 || xx.value() == 0 || yy.value() == 0 ? Value(ErrorCode::division)
                                                                          : formula::finite(squared ? r * r : r);
      }
    });
    return numbers_or_errors(values.size(), formula::NumberKind::plain, [&](std::size_t g) { return values[g]; });
  }

  Column by_library() {
    const std::size_t groups = group_count();
    groups_.rows();
    std::vector<Value> values(groups);
    by_ranges([&](std::size_t begin, std::size_t end) {
      formula::Context context;
      context.most_cells = std::numeric_limits<std::size_t>::max();
      std::vector<Value> given;
      for (std::size_t g = begin; g < end; ++g) {
        given.clear();
        for (const Argument& argument : arguments_)
          given.push_back(argument.is_column ? cells_of_group(argument.column, g) : argument.constant);
        values[g] = Value(formula::call(*call_.function, given, context).scalar());
      }
    });
    // Of days, the first, last, ... is a day.
    Column result = Column::of(values);
    const std::string_view name = call_.function->name;
    const bool keeps_kind =
        name == "MODE" || name == "MODE.SNGL" || name.starts_with("PERCENTILE") || name.starts_with("QUARTILE");
    if (keeps_kind && result.type() == ColumnType::number && !arguments_.empty() && arguments_[0].is_column &&
        arguments_[0].column.type() == ColumnType::number) {
      const auto kind = arguments_[0].column.kind();
      return numbers_or_errors(groups, kind, [&](std::size_t g) { return values[g]; });
    }
    return result;
  }

  Value cells_of_group(const Column& column, std::size_t g) {
    std::vector<Value> cells;
    for (const std::uint32_t row : groups_.rows().of(g)) {
      if (is_picked(row)) cells.push_back(column.value(row));
    }
    if (cells.empty()) return Value(formula::Array(1, 1));
    const std::size_t count = cells.size();
    return Value(formula::Array(count, 1, std::move(cells)));
  }

  const formula::Call& call_;
  Groups& groups_;
  Workers& workers_;
  std::size_t rows_;
  std::vector<Argument> arguments_;
  std::optional<Buffer<std::uint64_t>> picked_;
};

}  // namespace

const GroupRows& Groups::rows() {
  if (!rows_) rows_ = rows_by_group(grouping_, workers_);
  return *rows_;
}

namespace {

const formula::Call* aggregate_at(const SyntaxTree& tree, NodeId id) {
  const auto* call = std::get_if<formula::Call>(&tree[id].content);
  return call != nullptr && call->function->has(formula::Trait::aggregate) ? call : nullptr;
}

// SUM(a) inside of MAX(SUM(a), 4): it can only mean a group's sum, while MAX(a, b) inside of SUM(MAX(a, b)) may mean a
// row's.
bool holds_aggregate(const SyntaxTree& tree, NodeId root) {
  std::vector<NodeId> waiting;
  each_child(tree, root, [&](NodeId child) { waiting.push_back(child); });
  while (!waiting.empty()) {
    const NodeId id = waiting.back();
    waiting.pop_back();
    const formula::Call* call = aggregate_at(tree, id);
    if (call != nullptr && (call->argument_count < 2 || call->where)) return true;
    each_child(tree, id, [&](NodeId child) { waiting.push_back(child); });
  }
  return false;
}

}  // namespace

std::vector<NodeId> aggregate_calls(const SyntaxTree& tree) {
  std::vector<NodeId> found, waiting = {tree.root()};
  while (!waiting.empty()) {
    const NodeId id = waiting.back();
    waiting.pop_back();
    if (aggregate_at(tree, id) != nullptr && !holds_aggregate(tree, id)) {
      found.push_back(id);
      continue;
    }
    each_child(tree, id, [&](NodeId child) { waiting.push_back(child); });
  }
  return found;
}

Column aggregate(const SyntaxTree& tree, NodeId call, const Scope& scope, Groups& groups, Workers& workers) {
  return Aggregation(tree, call, scope, groups, workers).run();
}

Column evaluate_groups(const Expression& expression, const Scope& scope, const Table& keys, Groups& groups,
                       Workers& workers) {
  std::vector<std::pair<NodeId, Column>> computed;
  for (const NodeId id : aggregate_calls(expression.tree))
    computed.emplace_back(id, aggregate(expression.tree, id, scope, groups, workers));
  return evaluate(expression, {keys, scope.values, &computed, "key or aggregate"}, workers);
}

}  // namespace glmhost::table
