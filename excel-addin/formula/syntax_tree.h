// A parsed expression. Immutable; may be evaluated by many threads.
//
// Nodes stand in one row, every node behind its children, so a compiler can walk them once from front to back. The tree
// is at most kMostNesting deep, except for the left side of binary operators, which may be as long as the source.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "excel-addin/formula/value.h"

namespace glmhost::formula {

struct Function;

using NodeId = std::uint32_t;

inline constexpr int kMostNesting = 128;             // parentheses, calls, signs, right-hand sides
inline constexpr std::size_t kMostSource = 1 << 20;  // bytes
inline constexpr std::size_t kMostArguments = 255;

// Bytes of the source.
struct SourceSpan {
  std::size_t offset = 0, length = 0;
};

enum class Operator : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  power,
  concatenate,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  exactly_equal,
  not_exactly_equal,  // == and !==: with case and type
  logical_and,
  logical_or,  // words of the table language; both sides are evaluated
  is_in,       // the right side is an array literal or a range
  negate,
  plus,
  percent,
  logical_not,  // one operand
};

std::string_view operator_text(Operator op);

enum class NameKind : std::uint8_t {
  plain,      // amount
  bracketed,  // [Order Date]; ]] stands for ]
  position,   // #3
};

// An argument left out is a literal too: Value::omitted().
struct Literal {
  Value value;
};
struct CellReference {
  Area area;
};
// What is bound by LET or known to the caller.
struct Name {
  std::string text;  // without the brackets or the #
  NameKind kind = NameKind::plain;
};
struct Unary {
  Operator op;
  NodeId operand;
};
struct Binary {
  Operator op;
  NodeId left, right;
};
struct Call {
  const Function* function;
  std::uint32_t first_argument, argument_count;  // of SyntaxTree::arguments_of
  std::optional<NodeId> where = std::nullopt;    // SUM(amount where paid): only rows for which it holds
};

struct Node {
  std::variant<Literal, CellReference, Name, Unary, Binary, Call> content;
  SourceSpan span;
};

class SyntaxTree {
 public:
  NodeId root() const { return static_cast<NodeId>(nodes_.size() - 1); }
  const Node& operator[](NodeId id) const { return nodes_[id]; }
  std::span<const Node> nodes() const { return nodes_; }
  std::span<const NodeId> arguments_of(const Call& call) const {
    return std::span(arguments_).subspan(call.first_argument, call.argument_count);
  }

 private:
  friend class Parser;
  std::vector<Node> nodes_;
  std::vector<NodeId> arguments_;
};

}  // namespace glmhost::formula
