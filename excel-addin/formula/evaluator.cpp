#include "excel-addin/formula/evaluator.h"

#include <algorithm>

#include "excel-addin/formula/operators.h"
#include "excel-addin/formula/text_units.h"

namespace glmhost::formula {
namespace {

Value called_once(const Function& function, std::span<const Value> values, Context& context) {
  Arguments arguments(function, values, context);
  Value result = function.eager(arguments);
  return arguments.error() ? Value(*arguments.error()) : result;
}

}  // namespace

Value call(const Function& function, std::span<const Value> values, Context& context) {
  return lifted(
      values, [&](std::size_t i) { return function.takes_whole(i); }, context.most_cells,
      [&](std::span<const Value> scalars) { return called_once(function, scalars, context); });
}

Value Evaluator::evaluate(NodeId id) {
  if (context_.known_part) {
    if (auto known = context_.known_part(id)) return std::move(*known);
  }
  return std::visit([&](const auto& content) { return evaluate(content); }, tree_[id].content);
}

Value Evaluator::evaluate(const Literal& literal) {
  return literal.value;
}

Value Evaluator::evaluate(const CellReference& reference) {
  return context_.read_cells ? context_.read_cells(reference.area) : Value(ErrorCode::reference);
}

Value Evaluator::evaluate(const Name& name) {
  if (name.kind == NameKind::plain) {
    const auto bound = std::find_if(bound_.rbegin(), bound_.rend(),
                                    [&](const auto& each) { return equal_without_case(each.first, name.text); });
    if (bound != bound_.rend()) return bound->second;
  }
  if (context_.resolve_name) {
    if (auto value = context_.resolve_name(name)) return std::move(*value);
  }
  return ErrorCode::name;
}

Value Evaluator::evaluate(const Unary& unary) {
  return apply(unary.op, evaluate(unary.operand), context_.most_cells);
}

// The left side of a long chain (1+1+1+...) is walked in a loop: only right sides and calls recurse.
Value Evaluator::evaluate(const Binary& last) {
  std::vector<const Binary*> chain = {&last};
  while (const auto* left = std::get_if<Binary>(&tree_[chain.back()->left].content)) chain.push_back(left);
  Value value = evaluate(chain.back()->left);
  for (auto each = chain.rbegin(); each != chain.rend(); ++each) {
    value = apply((*each)->op, value, evaluate((*each)->right), context_.most_cells);
  }
  return value;
}

Value Evaluator::evaluate(const Call& call_node) {
  const Function& function = *call_node.function;
  const auto nodes = tree_.arguments_of(call_node);
  if (function.lazy != nullptr) {
    LazyArguments arguments(*this, nodes);
    return function.lazy(arguments);
  }
  std::vector<Value> values;
  values.reserve(nodes.size());
  for (const NodeId node : nodes) values.push_back(evaluate(node));
  return call(function, values, context_);
}

Value evaluate(const SyntaxTree& tree, Context& context) {
  Evaluator evaluator(tree, context);
  Value value = evaluator.evaluate(tree.root());
  if (value.is_array() && value.array().size() == 1) value = Value(value.scalar());
  return value;
}

bool LazyArguments::given(std::size_t i) const {
  if (i >= nodes_.size()) return false;
  const auto* literal = std::get_if<Literal>(&evaluator_.tree()[nodes_[i]].content);
  return literal == nullptr || !literal->value.is_omitted();
}

Value LazyArguments::evaluate(std::size_t i) const {
  return evaluator_.evaluate(nodes_[i]);
}

Context& LazyArguments::context() const {
  return evaluator_.context();
}

const std::string& LazyArguments::name(std::size_t i) const {
  return std::get<Name>(evaluator_.tree()[nodes_[i]].content).text;
}

void LazyArguments::bind(const std::string& name, Value value) const {
  evaluator_.bind(name, std::move(value));
}

void LazyArguments::unbind(std::size_t count) const {
  evaluator_.unbind(count);
}

}  // namespace glmhost::formula
