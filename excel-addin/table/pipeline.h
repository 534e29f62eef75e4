// A parsed pipeline: stages over tables. Immutable.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "excel-addin/formula/syntax_error.h"
#include "excel-addin/formula/syntax_tree.h"

namespace glmhost::table {

using formula::SourceSpan;

// An expression and where it stands. Spans inside of the tree are of the whole pipeline's source.
struct Expression {
  formula::SyntaxTree tree;
  SourceSpan span;
};

struct ColumnName {
  formula::Name name;
  SourceSpan span;
};

// `name = expression`, or an expression that is called what its text says.
struct Assignment {
  std::string name;
  SourceSpan name_span;
  bool named = false;
  Expression value;
};

struct Pipeline;

// A table by name, or a pipeline in parentheses.
struct Source {
  std::string name;
  SourceSpan span;
  std::shared_ptr<const Pipeline> pipeline;
};

struct From {
  Source source;
};
// A column, "wild*" ones, or (of select) a new one.
struct Pick {
  std::variant<ColumnName, std::string, Assignment> what;
  SourceSpan span;
};
struct Select {
  bool exclude = false;
  std::vector<Pick> picks;
};
struct Rename {
  std::vector<std::pair<std::string, ColumnName>> names;  // new, old
};
struct Derive {
  std::vector<Assignment> columns;
};
struct Filter {
  Expression condition;
};
struct SortKey {
  Expression value;
  bool descending = false;
};
struct Sort {
  std::vector<SortKey> keys;
};
struct Amount {
  double count = 0;
  bool percent = false;
};
// take and skip: of the table, or of each group of equal keys, there perhaps in an order of its own.
struct Limit {
  bool skip = false;
  Amount amount;
  std::vector<ColumnName> per;
  std::vector<SortKey> by;
};
struct Sample {
  Amount amount;
  std::uint64_t seed = 1;
};
struct Distinct {
  std::vector<ColumnName> columns;  // none: all
};
enum class Totals { none, total, rollup, cube };
struct Group {
  Totals totals = Totals::none;
  std::vector<Assignment> keys;
  std::vector<Assignment> aggregates;
};
enum class JoinKind { inner, left, right, full, semi, anti, cross };
// Which of the partners that the keys allow a row gets: all; the nearest one by the key that is an inequality; the one
// whose text is most alike in the first key.
enum class JoinMatch { all, nearest, most_alike };
enum class Compare { equal, unequal, less, less_or_equal, greater, greater_or_equal };
struct JoinKey {
  ColumnName left, right;
  Compare compare = Compare::equal;  // left compare right
};
struct Join {
  JoinKind kind = JoinKind::inner;
  JoinMatch match = JoinMatch::all;
  double least_score = 0.7;  // of JoinMatch::most_alike
  Source right;
  std::vector<JoinKey> keys;
};
enum class SetKind { append, set_union, intersect, except };
struct SetOperation {
  SetKind kind = SetKind::append;
  Source other;
};
// Rows of the partition around the current one: from `before` rows ahead of it to `after` behind; unset: to its end.
struct Frame {
  std::optional<std::int64_t> before, after;
};
// The same by the value of the one sort key: from `first` to `last` away from the current row's; unset: to the end.
struct RangeFrame {
  std::optional<double> first, last;
};
struct Window {
  std::vector<ColumnName> per;
  std::vector<SortKey> sort;
  std::optional<Frame> rows;
  std::optional<RangeFrame> range;
  std::vector<Assignment> columns;
};
struct Pivot {
  bool totals = false;
  std::vector<Assignment> keys;
  ColumnName by;
  Assignment aggregate;
};
struct Unpivot {
  bool exclude = false;
  std::vector<Pick> picks;
  std::string name_column, value_column;
};
enum class FillMode { down, up, value, interpolate };
struct Fill {
  FillMode mode = FillMode::down;
  std::vector<ColumnName> columns;
  std::vector<Expression> values;  // of FillMode::value, one a column
};
enum class SplitInto { rows, columns, named_columns };
struct Split {
  ColumnName column;
  std::string delimiter;  // a pattern when `regex`
  bool regex = false;
  SplitInto into = SplitInto::rows;
  std::vector<std::string> names;
};
struct CombineColumns {
  std::vector<ColumnName> columns;
  std::string name, delimiter;
};
enum class StepUnit { number, day, week, month, quarter, year };
struct SequenceStep {
  double count = 1;
  StepUnit unit = StepUnit::number;
};
struct CompleteKey {
  ColumnName column;
  std::optional<SequenceStep> every;  // the values between the smallest and the largest, too
};
struct Complete {
  std::vector<CompleteKey> keys;
  std::vector<ColumnName> per;
};
struct Describe {};
struct Assert {
  Expression condition;
  std::string message;
};
struct Let {
  std::string name;
  SourceSpan span;
  std::variant<Expression, std::shared_ptr<const Pipeline>> value;
};

struct Stage {
  std::variant<From, Select, Rename, Derive, Filter, Sort, Limit, Sample, Distinct, Group, Join, SetOperation, Window,
               Pivot, Unpivot, Fill, Split, CombineColumns, Complete, Describe, Assert, Let>
      content;
  SourceSpan span;
};

struct Pipeline {
  std::vector<Stage> stages;
};

// Throws formula::SyntaxError with a place in the source and, where there is one, the nearest word.
Pipeline parse_pipeline(std::string_view source);

// The source with one stage a line and blanks where they help. Throws as parse_pipeline() does. Parses to the same
// pipeline.
std::string formatted_pipeline(std::string_view source);

// One line a stage: what it will do.
std::string explained(const Pipeline& pipeline, std::string_view source);

// The first words of stages, for completion.
const std::vector<std::string_view>& stage_words();

}  // namespace glmhost::table
