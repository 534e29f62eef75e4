// The expressions of a template.
#include <utility>

#include "inference/chat/jinja/interpreter.h"

namespace glmhost::jinja {

using Kind = Expression::Kind;

Value Interpreter::evaluate_optional(const ExpressionPtr& expression, const ScopePtr& scope) {
  return expression == nullptr ? Value() : evaluate(*expression, scope);
}

Value Interpreter::evaluate(const Expression& expression, const ScopePtr& scope) {
  const Budget::Level level(runtime_.budget);
  runtime_.budget.step();
  line_ = expression.line;
  const auto operand = [&](std::size_t i) { return evaluate(*expression.operands[i], scope); };
  switch (expression.kind) {
    case Kind::constant:
      return expression.constant;
    case Kind::name:
      return name(expression, *scope);
    case Kind::list:
    case Kind::tuple: {
      std::vector<Value> items;
      for (const ExpressionPtr& item : expression.operands) items.push_back(evaluate(*item, scope));
      return runtime_.list(std::move(items), expression.kind == Kind::tuple);
    }
    case Kind::dict:
      return dict(expression, scope);
    case Kind::logical_not:
      return Value(!operand(0).truth());
    case Kind::logical_and: {
      Value left = operand(0);
      return left.truth() ? operand(1) : left;
    }
    case Kind::logical_or: {
      Value left = operand(0);
      return left.truth() ? left : operand(1);
    }
    case Kind::negative:
      return negate(runtime_, operand(0));
    case Kind::positive: {
      const Value value = operand(0);
      if (value.is_undefined()) fail(value.reason());
      if (!value.is_number()) fail("bad operand type for unary +: '" + std::string(value.type_name()) + "'");
      return value.is_whole() ? Value(value.whole()) : value;
    }
    case Kind::binary: {
      const Value left = operand(0);
      const Value right = operand(1);
      line_ = expression.line;
      return arithmetic(runtime_, expression.operators[0], left, right);
    }
    case Kind::chain:
      return chain(expression, scope);
    case Kind::concat:
      return concat(expression, scope);
    case Kind::conditional:
      if (operand(0).truth()) return operand(1);
      return expression.operands[2] != nullptr
                 ? operand(2)
                 : Value::undefined("the inline if-expression evaluated to false and no else section was defined");
    case Kind::attribute:
      return attribute(runtime_, operand(0), expression.name);
    case Kind::item: {
      const Value value = operand(0);
      return item(runtime_, value, operand(1));
    }
    case Kind::slice: {
      const Value value = operand(0);
      const Value begin = evaluate_optional(expression.operands[1], scope);
      const Value end = evaluate_optional(expression.operands[2], scope);
      return slice(runtime_, value, begin, end, evaluate_optional(expression.operands[3], scope));
    }
    case Kind::call:
      return call(expression, scope);
    case Kind::filter:
      return filter(expression, scope, nullptr);
    case Kind::test: {
      const Value value = operand(0);
      return Value(expression.test(runtime_, value, arguments(expression, scope)));
    }
  }
  return {};
}

Value Interpreter::name(const Expression& expression, const Scope& scope) const {
  if (const Value* found = scope.find(expression.name)) return *found;
  return Value::undefined("'" + expression.name + "' is undefined");
}

Value Interpreter::dict(const Expression& expression, const ScopePtr& scope) {
  Dict made;
  for (std::size_t i = 0; i < expression.operands.size(); i += 2) {
    const Value key = evaluate(*expression.operands[i], scope);
    made.set(key, evaluate(*expression.operands[i + 1], scope));
  }
  return runtime_.dict(std::move(made));
}

Value Interpreter::chain(const Expression& expression, const ScopePtr& scope) {
  Value left = evaluate(*expression.operands[0], scope);
  for (std::size_t i = 0; i < expression.operators.size(); ++i) {
    Value right = evaluate(*expression.operands[i + 1], scope);
    if (!comparison(runtime_, expression.operators[i], left, right)) return Value(false);
    left = std::move(right);
  }
  return Value(true);
}

Value Interpreter::concat(const Expression& expression, const ScopePtr& scope) {
  Text out;
  for (const ExpressionPtr& each : expression.operands) append(out, to_text(runtime_, evaluate(*each, scope)));
  return runtime_.text(std::move(out));
}

Arguments Interpreter::arguments(const Expression& expression, const ScopePtr& scope) {
  Arguments given;
  for (std::size_t i = 1; i < expression.operands.size(); ++i) {
    given.positional.push_back(evaluate(*expression.operands[i], scope));
  }
  for (const auto& [name, value] : expression.named) given.named.emplace_back(name, evaluate(*value, scope));
  line_ = expression.line;
  return given;
}

Value Interpreter::call(const Expression& expression, const ScopePtr& scope, const Value* caller) {
  const Value callee = evaluate(*expression.operands[0], scope);
  if (callee.is_undefined()) fail(callee.reason());
  if (!callee.is_function()) fail("'" + std::string(callee.type_name()) + "' object is not callable");
  Arguments given = arguments(expression, scope);
  if (caller != nullptr) given.named.emplace_back("caller", *caller);
  return callee.function().call(runtime_, given);
}

Value Interpreter::filter(const Expression& expression, const ScopePtr& scope, const Value* block) {
  const Budget::Level level(runtime_.budget);  // filters of a block call one another here
  const ExpressionPtr& operand = expression.operands[0];
  Value input;
  if (operand == nullptr) {
    input = *block;
  } else if (block != nullptr && operand->kind == Kind::filter) {
    input = filter(*operand, scope, block);
  } else {
    input = evaluate(*operand, scope);
  }
  return expression.filter(runtime_, input, arguments(expression, scope));
}

}  // namespace glmhost::jinja
