// Runs the statements of a template once.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "inference/chat/jinja/syntax.h"

namespace glmhost::jinja {

// Names and values. A statement that has a scope of its own (a loop's round, a macro, ...) sees those around it; what
// it sets is gone behind it.
struct Scope {
  std::shared_ptr<const Scope> parent;
  std::map<std::string, Value, std::less<>> values;

  const Value* find(std::string_view name) const;
};
using ScopePtr = std::shared_ptr<Scope>;

class Interpreter {
 public:
  Interpreter(Runtime& runtime, ScopePtr variables) : runtime_(runtime), variables_(std::move(variables)) {}
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  Text run(const Block& statements);
  int line() const { return line_; }  // of what was run last

 private:
  enum class Flow { on, breaks, continues };

  ScopePtr inner(const ScopePtr& scope) const;
  Flow execute(const Block& block, const ScopePtr& scope, Text& out);
  Flow execute(const Statement& statement, const ScopePtr& scope, Text& out);
  Flow condition(const Statement& statement, const ScopePtr& scope, Text& out);
  Flow loop(const Statement& statement, const ScopePtr& scope, Text& out);
  Flow with(const Statement& statement, const ScopePtr& scope, Text& out);
  void call_block(const Statement& statement, const ScopePtr& scope, Text& out);
  Value captured(const Statement& statement, const ScopePtr& scope);  // a block's text through its filters
  void assign(const Target& target, const Value& value, const ScopePtr& scope);
  void append(Text& out, const Text& text);

  Value macro(const std::shared_ptr<const Macro>& macro, const ScopePtr& scope);
  Value call_macro(const Macro& macro, const ScopePtr& scope, const Arguments& arguments);
  void keep(const ScopePtr& scope);

  Value evaluate(const Expression& expression, const ScopePtr& scope);
  Value evaluate_optional(const ExpressionPtr& expression, const ScopePtr& scope);  // None for a null pointer
  Value name(const Expression& expression, const Scope& scope) const;
  Value dict(const Expression& expression, const ScopePtr& scope);
  Value chain(const Expression& expression, const ScopePtr& scope);
  Value concat(const Expression& expression, const ScopePtr& scope);
  Value call(const Expression& expression, const ScopePtr& scope, const Value* caller = nullptr);
  Value filter(const Expression& expression, const ScopePtr& scope, const Value* block);
  Arguments arguments(const Expression& expression, const ScopePtr& scope);

  Runtime& runtime_;
  ScopePtr variables_;
  std::vector<ScopePtr> kept_;  // scopes that macros hold, which may hold the macros: emptied at the end
  int line_ = 1;
};

}  // namespace glmhost::jinja
