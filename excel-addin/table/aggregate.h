// Expressions over groups of rows: SUM(amount) / COUNT(), with keys as they are.
#pragma once

#include <vector>

#include "excel-addin/table/expression.h"
#include "excel-addin/table/grouping.h"

namespace glmhost::table {

class Groups {
 public:
  Groups(Grouping grouping, Workers& workers) : grouping_(std::move(grouping)), workers_(workers) {}
  const Grouping& grouping() const { return grouping_; }
  const GroupRows& rows();  // made at first use

 private:
  Grouping grouping_;
  Workers& workers_;
  std::optional<GroupRows> rows_;
};

// The calls of aggregates that the tree's value depends on, outermost first seen; those inside of another aggregate are
// that one's business.
std::vector<formula::NodeId> aggregate_calls(const formula::SyntaxTree& tree);

// One cell a group, in the groups' order. `call` is a node of the tree; its arguments are evaluated for each row of the
// table.
Column aggregate(const formula::SyntaxTree& tree, formula::NodeId call, const Scope& scope, Groups& groups,
                 Workers& workers);

// The expression's value for each group; names outside of aggregates are columns of `keys`, which has a row for each
// group.
Column evaluate_groups(const Expression& expression, const Scope& scope, const Table& keys, Groups& groups,
                       Workers& workers);

}  // namespace glmhost::table
