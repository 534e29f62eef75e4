// Evaluates a SyntaxTree, value by value.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/context.h"
#include "excel-addin/formula/syntax_tree.h"
#include "excel-addin/formula/value.h"

namespace glmhost::formula {

// What the expression is worth. Never throws for a value: mistakes are error values. An array of one cell becomes the
// cell; an empty cell stays empty (a formula cell would show 0).
Value evaluate(const SyntaxTree& tree, Context& context);

class Evaluator {
 public:
  Evaluator(const SyntaxTree& tree, Context& context) : tree_(tree), context_(context) {}

  Value evaluate(NodeId id);
  const SyntaxTree& tree() const { return tree_; }
  Context& context() { return context_; }

  void bind(const std::string& name, Value value) { bound_.emplace_back(name, std::move(value)); }
  void unbind(std::size_t count) { bound_.resize(bound_.size() - count); }

 private:
  Value evaluate(const Literal& literal);
  Value evaluate(const CellReference& reference);
  Value evaluate(const Name& name);
  Value evaluate(const Unary& unary);
  Value evaluate(const Binary& binary);
  Value evaluate(const Call& call);

  const SyntaxTree& tree_;
  Context& context_;
  std::vector<std::pair<std::string, Value>> bound_;
};

// Calls an eager function, lifted where its parameters ask for it.
Value call(const Function& function, std::span<const Value> values, Context& context);

}  // namespace glmhost::formula
