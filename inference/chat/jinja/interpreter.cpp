#include "inference/chat/jinja/interpreter.h"

#include <algorithm>

namespace glmhost::jinja {

using Kind = Statement::Kind;

const Value* Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent.get()) {
    const auto found = scope->values.find(name);
    if (found != scope->values.end()) return &found->second;
  }
  return nullptr;
}

Interpreter::~Interpreter() {
  for (const ScopePtr& scope : kept_) scope->values.clear();
  variables_->values.clear();
}

Text Interpreter::run(const Block& statements) {
  Text out;
  execute(statements, inner(variables_), out);
  return out;
}

ScopePtr Interpreter::inner(const ScopePtr& scope) const {
  runtime_.budget.step();
  return std::make_shared<Scope>(Scope{scope, {}});
}

void Interpreter::append(Text& out, const Text& text) {
  runtime_.budget.make(text.size());
  out.append(text);
}

// --- statements

Interpreter::Flow Interpreter::execute(const Block& block, const ScopePtr& scope, Text& out) {
  const Budget::Level level(runtime_.budget);
  for (const Statement& statement : block) {
    const Flow flow = execute(statement, scope, out);
    if (flow != Flow::on) return flow;
  }
  return Flow::on;
}

Interpreter::Flow Interpreter::execute(const Statement& statement, const ScopePtr& scope, Text& out) {
  line_ = statement.line;
  runtime_.budget.step();
  switch (statement.kind) {
    case Kind::text:
      append(out, statement.text.text());
      return Flow::on;
    case Kind::output:
      append(out, to_text(runtime_, evaluate(*statement.expression, scope)));
      return Flow::on;
    case Kind::condition:
      return condition(statement, scope, out);
    case Kind::loop:
      return loop(statement, scope, out);
    case Kind::set:
      assign(statement.target, evaluate(*statement.expression, scope), scope);
      return Flow::on;
    case Kind::set_block:
      assign(statement.target, captured(statement, scope), scope);
      return Flow::on;
    case Kind::macro:
      scope->values.insert_or_assign(statement.macro->name, macro(statement.macro, scope));
      return Flow::on;
    case Kind::call:
      call_block(statement, scope, out);
      return Flow::on;
    case Kind::filter:
      append(out, to_text(runtime_, captured(statement, scope)));
      return Flow::on;
    case Kind::with:
      return with(statement, scope, out);
    case Kind::scope:
      return execute(statement.branches[0].block, inner(scope), out);
    case Kind::break_loop:
      return Flow::breaks;
    case Kind::continue_loop:
      return Flow::continues;
  }
  return Flow::on;
}

Interpreter::Flow Interpreter::condition(const Statement& statement, const ScopePtr& scope, Text& out) {
  for (const Statement::Branch& branch : statement.branches) {
    if (branch.condition == nullptr || evaluate(*branch.condition, scope).truth()) {
      return execute(branch.block, scope, out);
    }
  }
  return Flow::on;
}

Interpreter::Flow Interpreter::loop(const Statement& statement, const ScopePtr& scope, Text& out) {
  std::vector<Value> items = iterate(runtime_, evaluate(*statement.expression, scope));
  if (statement.condition != nullptr) {
    std::erase_if(items, [&](const Value& item) {
      const ScopePtr round = inner(scope);
      assign(statement.target, item, round);
      return !evaluate(*statement.condition, round).truth();
    });
  }
  if (items.empty()) {
    return statement.branches.size() > 1 ? execute(statement.branches[1].block, inner(scope), out) : Flow::on;
  }
  const ListPtr all = runtime_.list(std::move(items)).list_ptr();
  for (std::size_t i = 0; i < all->items.size(); ++i) {
    const ScopePtr round = inner(scope);
    round->values.emplace("loop", Value(std::make_shared<const Loop>(Loop{all, i})));
    assign(statement.target, all->items[i], round);
    if (execute(statement.branches[0].block, round, out) == Flow::breaks) break;
  }
  return Flow::on;
}

Interpreter::Flow Interpreter::with(const Statement& statement, const ScopePtr& scope, Text& out) {
  const ScopePtr own = inner(scope);
  for (const auto& [name, value] : statement.assignments) {
    own->values.insert_or_assign(name, evaluate(*value, scope));
  }
  return execute(statement.branches[0].block, own, out);
}

void Interpreter::call_block(const Statement& statement, const ScopePtr& scope, Text& out) {
  const Value caller = macro(statement.macro, scope);
  append(out, to_text(runtime_, call(*statement.expression, scope, &caller)));
}

Value Interpreter::captured(const Statement& statement, const ScopePtr& scope) {
  Text out;
  execute(statement.branches[0].block, inner(scope), out);
  const Value text = runtime_.text(std::move(out));
  return statement.expression == nullptr ? text : filter(*statement.expression, scope, &text);
}

void Interpreter::assign(const Target& target, const Value& value, const ScopePtr& scope) {
  if (!target.several.empty()) {
    const std::vector<Value> items = iterate(runtime_, value);
    if (items.size() != target.several.size()) {
      fail("expected " + std::to_string(target.several.size()) + " values to unpack, but got " +
           std::to_string(items.size()));
    }
    for (std::size_t i = 0; i < items.size(); ++i) assign(target.several[i], items[i], scope);
  } else if (target.member.empty()) {
    scope->values.insert_or_assign(target.name, value);
  } else {
    const Value* space = scope->find(target.name);
    if (space == nullptr || !space->is_namespace()) fail("cannot assign attribute on non-namespace object");
    runtime_.set_member(space->space(), target.member, value);
  }
}

// --- macros

void Interpreter::keep(const ScopePtr& scope) {
  if (kept_.empty() || kept_.back() != scope) kept_.push_back(scope);
  runtime_.budget.make(sizeof(ScopePtr));
}

Value Interpreter::macro(const std::shared_ptr<const Macro>& macro, const ScopePtr& scope) {
  keep(scope);
  return make_function(macro->name, [this, macro, scope](Runtime&, const Arguments& arguments) {
    return call_macro(*macro, scope, arguments);
  });
}

Value Interpreter::call_macro(const Macro& macro, const ScopePtr& scope, const Arguments& arguments) {
  const std::size_t count = macro.parameters.size();
  if (arguments.positional.size() > count) {
    fail("macro '" + macro.name + "' takes not more than " + std::to_string(count) + " argument(s)");
  }
  const ScopePtr own = inner(scope);
  for (std::size_t i = 0; i < arguments.positional.size(); ++i) {
    own->values.insert_or_assign(macro.parameters[i].first, arguments.positional[i]);
  }
  for (const auto& given : arguments.named) {
    const std::string& name = given.first;
    const bool known = name == "caller" || std::any_of(macro.parameters.begin(), macro.parameters.end(),
                                                       [&given = name](const auto& it) { return it.first == given; });
    if (!known) fail("macro '" + macro.name + "' takes no keyword argument '" + name + "'");
    if (!own->values.emplace(name, given.second).second) {
      fail("macro '" + macro.name + "' got multiple values for argument '" + name + "'");
    }
  }
  for (const auto& [name, standard] : macro.parameters) {
    if (own->values.contains(name)) continue;
    own->values.emplace(name, standard != nullptr ? evaluate(*standard, own)
                                                  : Value::undefined("parameter '" + name + "' was not provided"));
  }
  Text out;
  execute(*macro.body, own, out);
  return runtime_.text(std::move(out));
}

}  // namespace glmhost::jinja
