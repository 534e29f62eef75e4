// Evaluates an expression for every row of a table.
//
// Arithmetic, comparisons, and/or/not and IF run over whole runs of cells. What depends on one text column alone is
// computed once for each different text. All else is evaluated row by row by the formula library, which is also what
// the quick ways must agree with to the bit.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "excel-addin/formula/evaluator.h"
#include "excel-addin/table/pipeline.h"
#include "excel-addin/table/table.h"

namespace glmhost::table {

struct NamedValue {
  std::string name;
  formula::Value value;
};

// What names mean.
struct Scope {
  const Table& table;
  const std::vector<NamedValue>& values;  // of `let`; a column of the same name goes first
  // Parts of the tree whose values are known: aggregates.
  const std::vector<std::pair<formula::NodeId, Column>>* computed = nullptr;
  std::string_view expected = "column";  // what a name should have been, for the sentence
};

// Throws formula::SyntaxError for unknown names and for functions that make no sense in a row.
Column evaluate(const Expression& expression, const Scope& scope, Workers& workers);
// The part of the tree below `root`.
Column evaluate(const formula::SyntaxTree& tree, formula::NodeId root, const Scope& scope, Workers& workers);

struct Matches {
  Rows rows;
  // Rows whose condition is an error: they are not among the rows.
  std::size_t errors = 0, first_error_row = 0;
  formula::ErrorCode first_error{};
};
Matches matching(const Expression& condition, const Scope& scope, Workers& workers);
Matches matching(const formula::SyntaxTree& tree, formula::NodeId root, const Scope& scope, Workers& workers);

// The place of the column; throws SyntaxError with the nearest name.
std::size_t column_place(const formula::Name& name, SourceSpan span, const Table& table);

// Calls visit for the nodes right below one.
void each_child(const formula::SyntaxTree& tree, formula::NodeId id, const std::function<void(formula::NodeId)>& visit);

// Does the part below `root` name a column of the table?
bool names_column(const formula::SyntaxTree& tree, formula::NodeId root, const Table& table);

// A value that needs no table.
formula::Value constant_value(const Expression& expression, const std::vector<NamedValue>& values);

}  // namespace glmhost::table
