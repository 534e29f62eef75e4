// The parsed form of a template.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "inference/chat/jinja/runtime.h"

namespace glmhost::jinja {

struct Expression;
using ExpressionPtr = std::unique_ptr<const Expression>;

struct Expression {
  enum class Kind {
    constant,     // constant
    name,         // name
    list,         // operands
    tuple,        // operands
    dict,         // operands: key, value, key, value
    logical_not,  // operands[0]
    logical_and,  // operands[0] and operands[1]
    logical_or,
    negative,
    positive,
    binary,       // operands[0] operators[0] operands[1]
    chain,        // operands[0] operators[0] operands[1] operators[1] operands[2]: comparisons
    concat,       // operands joined by ~
    conditional,  // operands: condition, value, other value (may be null)
    attribute,    // operands[0].name
    item,         // operands[0][operands[1]]
    slice,        // operands[0][operands[1]:operands[2]:operands[3]], each bound may be null
    call,         // operands[0](the other operands, named)
    filter,       // operands[0] | filter(the other operands, named); operands[0] is null in a filter block
    test,         // operands[0] is test(the other operands, named)
  };

  Kind kind = Kind::constant;
  int line = 1;
  int depth = 1;  // of the tree
  Value constant;
  std::string name;
  std::vector<ExpressionPtr> operands;
  std::vector<Operator> operators;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  Filter filter = nullptr;
  Test test = nullptr;
};

struct Statement;
using Block = std::vector<Statement>;

// What a value is given to: a name, a member of a namespace, or several of them.
struct Target {
  std::string name;
  std::string member;           // of the namespace `name`
  std::vector<Target> several;  // one for each item of the value
  bool is_tuple = false;
};

struct Macro {
  std::string name;
  std::vector<std::pair<std::string, ExpressionPtr>> parameters;  // with standard values, or null
  std::shared_ptr<const Block> body;
};

struct Statement {
  enum class Kind {
    text,       // text
    output,     // expression
    condition,  // branches: condition and block, the last one without a condition for else
    loop,       // for target in expression if condition: branches[0], else branches[1]
    set,        // target = expression
    set_block,  // target = the block's text, through the filters of expression (may be null)
    macro,      // macro
    call,       // {% call(parameters) expression %}: macro is the caller
    filter,     // the block's text through the filters of expression
    with,       // targets and values in branches[0].conditions: see assignments
    scope,      // a block without meaning of its own: {% generation %}
    break_loop,
    continue_loop,
  };
  struct Branch {
    ExpressionPtr condition;
    Block block;
  };

  Kind kind = Kind::text;
  int line = 1;
  Value text;
  ExpressionPtr expression;
  ExpressionPtr condition;
  Target target;
  std::vector<Branch> branches;
  std::vector<std::pair<std::string, ExpressionPtr>> assignments;  // of with
  std::shared_ptr<const Macro> macro;
};

}  // namespace glmhost::jinja
