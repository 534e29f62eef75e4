// What the stages of a running pipeline share. Inside of this folder only.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "excel-addin/table/aggregate.h"
#include "excel-addin/table/engine.h"
#include "excel-addin/table/sorting.h"

namespace glmhost::table {

class Run {
 public:
  Run(std::string_view source, const RunOptions& options, Workers& workers)
      : source_(source), options_(options), workers_(workers) {}

  Table run(const Pipeline& pipeline, Table table);
  std::vector<std::string> take_notes() { return std::move(notes_); }

 private:
  // One a stage: the table that goes in gives the table that comes out.
  Table apply(const From& stage, const Table& table);
  Table apply(const Select& stage, const Table& table);
  Table apply(const Rename& stage, Table table);
  Table apply(const Derive& stage, Table table);
  Table apply(const Filter& stage, const Table& table);
  Table apply(const Sort& stage, const Table& table);
  Table apply(const Limit& stage, const Table& table);
  Table apply(const Sample& stage, const Table& table);
  Table apply(const Distinct& stage, const Table& table);
  Table apply(const Group& stage, const Table& table);
  Table apply(const Join& stage, const Table& table);
  Table apply(const SetOperation& stage, const Table& table);
  Table apply(const Window& stage, const Table& table);
  Table apply(const Pivot& stage, const Table& table);
  Table apply(const Unpivot& stage, const Table& table);
  Table apply(const Fill& stage, const Table& table);
  Table apply(const Split& stage, const Table& table);
  Table apply(const CombineColumns& stage, const Table& table);
  Table apply(const Complete& stage, const Table& table);
  Table apply(const Describe& stage, const Table& table);
  Table apply(const Assert& stage, const Table& table);
  Table apply(const Let& stage, Table table);

  Scope scope(const Table& table) const { return {table, values_}; }
  std::string text_of(SourceSpan span) const { return std::string(source_.substr(span.offset, span.length)); }
  std::size_t place(const ColumnName& name, const Table& table) const {
    return column_place(name.name, name.span, table);
  }
  std::vector<Column> columns_named(const std::vector<ColumnName>& names, const Table& table);
  std::vector<std::size_t> picked(const std::vector<Pick>& picks, const Table& table) const;
  std::vector<SortColumn> sort_columns(const std::vector<SortKey>& keys, const Table& table);
  Table opened(const Source& source, const Table& current);
  Table key_table(const std::vector<Assignment>& keys, const Table& table);
  Table grouped(const std::vector<Assignment>& aggregates, const Table& keys, const std::vector<bool>& used,
                const Table& table);
  Table stacked(const Table& first, const Table& second);
  struct PivotColumns {
    const Grouping& groups;
    const Rows& order;  // of the groups
  };
  Table with_totals(const Pivot& stage, const Table& table, const Table& keys, Table result,
                    const PivotColumns& columns);
  void note_errors(const Matches& matches, const Expression& condition);
  Column window_column(const Expression& expression, const Window& stage, const Table& table, Groups& groups,
                       const Rows& order);

  std::string_view source_;
  const RunOptions& options_;
  Workers& workers_;
  std::vector<NamedValue> values_;
  std::vector<std::pair<std::string, Table>> tables_;
  std::size_t depth_ = 0;            // of pipelines in pipelines
  std::vector<std::string> making_;  // names of `let` whose pipelines run now
  std::vector<std::string> notes_;
};

}  // namespace glmhost::table
