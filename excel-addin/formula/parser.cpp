#include "excel-addin/formula/parser.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "excel-addin/formula/cell_address.h"
#include "excel-addin/formula/function.h"
#include "excel-addin/formula/lexer.h"
#include "excel-addin/formula/text_units.h"

namespace glmhost::formula {
namespace {

// How tightly an operator between two values binds; larger binds tighter.
enum Binding { kOr = 1, kAnd, kNot, kComparison, kConcatenation, kSum, kProduct, kPower };

struct Infix {
  Operator op;
  int binding;
};

constexpr std::pair<std::string_view, Infix> kSymbols[] = {
    {"+", {Operator::add, kSum}},
    {"-", {Operator::subtract, kSum}},
    {"*", {Operator::multiply, kProduct}},
    {"/", {Operator::divide, kProduct}},
    {"^", {Operator::power, kPower}},
    {"&", {Operator::concatenate, kConcatenation}},
    {"=", {Operator::equal, kComparison}},
    {"<>", {Operator::not_equal, kComparison}},
    {"!=", {Operator::not_equal, kComparison}},
    {"<", {Operator::less, kComparison}},
    {"<=", {Operator::less_equal, kComparison}},
    {">", {Operator::greater, kComparison}},
    {">=", {Operator::greater_equal, kComparison}},
    {"==", {Operator::exactly_equal, kComparison}},
    {"!==", {Operator::not_exactly_equal, kComparison}},
};

std::string found(const Token& token) {
  if (token.kind == TokenKind::end) return "the expression ends here";
  constexpr std::size_t kMostShown = 40;
  std::string shown(token.spelling.substr(0, kMostShown));
  return "there is `" + valid_utf8(shown) + "`" + (token.spelling.size() > kMostShown ? "..." : "");
}

}  // namespace

std::string_view operator_text(Operator op) {
  switch (op) {
    case Operator::logical_and:
      return "and";
    case Operator::logical_or:
      return "or";
    case Operator::logical_not:
      return "not";
    case Operator::is_in:
      return "in";
    case Operator::negate:
      return "-";
    case Operator::plus:
      return "+";
    case Operator::percent:
      return "%";
    default:
      return std::ranges::find(kSymbols, op, [](const auto& each) { return each.second.op; })->first;
  }
}

class Parser {
 public:
  Parser(std::string_view source, std::size_t offset, const ParseOptions& options)
      : source_(source), options_(options), lexer_(source, offset, options) {
    if (source.size() > kMostSource) {
      throw SyntaxError("The expression is longer than 1 MiB.", 0, 1);
    }
    advance();
  }

  void skip_leading_equals() {
    if (token_.is("=")) advance();
  }

  NodeId expression() { return binary(kOr); }

  void expect_end() const {
    if (token_.kind != TokenKind::end)
      fail("Expected an operator or the end of the expression, but " + found(token_) + ".");
  }

  std::size_t next_offset() const { return token_.span.offset; }
  SyntaxTree take() { return std::move(tree_); }

 private:
  class Nesting {
   public:
    explicit Nesting(Parser& parser) : parser_(parser) {
      if (++parser_.nesting_ > kMostNesting) {
        parser_.fail("The expression is nested more than " + std::to_string(kMostNesting) + " levels deep.");
      }
    }
    ~Nesting() { --parser_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Parser& parser_;
  };

  // Between an opening and a closing parenthesis line ends are blank. The state is restored before the token behind the
  // closing one is read.
  void open() {
    ++parentheses_;
    lexer_.set_inside_parentheses(true);
    advance();
  }
  void close(std::string_view symbol, const Token& opening) {
    if (!token_.is(symbol)) {
      fail("Expected `" + std::string(symbol) + "` to close the `" + std::string(opening.spelling) + "` at column " +
           std::to_string(position_of(source_, opening.span.offset).column) + ", but " + found(token_) + ".");
    }
    if (--parentheses_ == 0) lexer_.set_inside_parentheses(false);
    advance();
  }

  void advance() {
    last_end_ = token_.span.offset + token_.span.length;
    token_ = lexer_.next();
  }

  [[noreturn]] void fail(const std::string& sentence) const {
    throw SyntaxError(sentence, token_.span.offset, std::max<std::size_t>(token_.span.length, 1));
  }

  NodeId add(decltype(Node::content) content, std::size_t offset) {
    tree_.nodes_.push_back({std::move(content), {offset, last_end_ > offset ? last_end_ - offset : 0}});
    return tree_.root();
  }

  bool is_word(std::string_view word) const {
    return options_.words && token_.kind == TokenKind::identifier && equal_without_case(token_.spelling, word);
  }

  std::optional<Infix> infix() const {
    if (token_.kind == TokenKind::symbol) {
      for (const auto& [symbol, infix] : kSymbols) {
        if (token_.spelling == symbol) return infix;
      }
    }
    if (is_word("and")) return Infix{Operator::logical_and, kAnd};
    if (is_word("or")) return Infix{Operator::logical_or, kOr};
    if (is_word("in") || is_word("not")) return Infix{Operator::is_in, kComparison};
    return std::nullopt;
  }

  NodeId binary(int least) {
    const Nesting nesting(*this);
    const std::size_t offset = token_.span.offset;
    NodeId left = is_word("not") && least <= kNot ? negated() : percent();
    while (const auto operation = infix()) {
      if (operation->binding < least) break;
      if (operation->op == Operator::is_in) {
        left = membership(left, offset);
        continue;
      }
      advance();
      const NodeId right = binary(operation->binding + 1);
      left = add(Binary{operation->op, left, right}, offset);
    }
    return left;
  }

  // `not x = 1`; NOT(...) is the function.
  NodeId negated() {
    const Token word = token_;
    advance();
    if (token_.is("(")) return percent_behind(call(word), word.span.offset);
    const NodeId operand = binary(kNot);
    return add(Unary{Operator::logical_not, operand}, word.span.offset);
  }

  // `x in ("a", "b")`, `x not in (...)`
  NodeId membership(NodeId left, std::size_t offset) {
    const bool negative = is_word("not");
    advance();
    if (negative) {
      if (!is_word("in")) fail("Expected `in` after `not`, but " + found(token_) + ".");
      advance();
    }
    const Token opening = token_;
    NodeId result = 0;
    if (token_.is("{")) {
      const NodeId list = array_literal();
      result = add(Binary{Operator::is_in, left, list}, offset);
    } else {
      if (!token_.is("("))
        fail("Expected a list in parentheses after `in`, such as (\"EU\", \"US\"), but " + found(token_) + ".");
      open();
      std::vector<NodeId> items = {expression()};
      while (token_.is(",")) {
        advance();
        items.push_back(expression());
      }
      close(")", opening);
      result = any_of(left, items, offset);
    }
    return negative ? add(Unary{Operator::logical_not, result}, offset) : result;
  }

  NodeId any_of(NodeId left, const std::vector<NodeId>& items, std::size_t offset) {
    std::vector<Value> constants;
    for (const NodeId item : items) {
      const auto* literal = std::get_if<Literal>(&tree_.nodes_[item].content);
      if (literal != nullptr && !literal->value.is_array()) constants.push_back(literal->value);
    }
    if (constants.size() == items.size()) {
      const NodeId list = add(Literal{Value(Array(1, constants.size(), std::move(constants)))}, offset);
      return add(Binary{Operator::is_in, left, list}, offset);
    }
    std::vector<NodeId> arguments = {left};
    arguments.insert(arguments.end(), items.begin(), items.end());
    return add_call(*find_function("IN"), arguments, offset);
  }

  NodeId percent() {
    const std::size_t offset = token_.span.offset;
    return percent_behind(prefix(), offset);
  }

  NodeId percent_behind(NodeId operand, std::size_t offset) {
    while (token_.is("%")) {
      advance();
      operand = add(Unary{Operator::percent, operand}, offset);
    }
    return operand;
  }

  NodeId prefix() {
    if (!token_.is("-") && !token_.is("+")) return primary();
    const Nesting nesting(*this);
    const Token sign = token_;
    advance();
    const NodeId operand = prefix();
    return add(Unary{sign.is("-") ? Operator::negate : Operator::plus, operand}, sign.span.offset);
  }

  NodeId primary() {
    const Token token = token_;
    switch (token.kind) {
      case TokenKind::number:
        advance();
        if (token_.is(":") && options_.cells) return range(token, {});
        return add(Literal{Value(token.number)}, token.span.offset);
      case TokenKind::text:
        advance();
        return add(Literal{Value(token.text)}, token.span.offset);
      case TokenKind::error:
        advance();
        return add(Literal{Value(token.error)}, token.span.offset);
      case TokenKind::bracketed:
        advance();
        return add(Name{token.text, NameKind::bracketed}, token.span.offset);
      case TokenKind::position:
        advance();
        return add(Name{std::string(token.spelling.substr(1)), NameKind::position}, token.span.offset);
      case TokenKind::quoted_sheet:
        advance();
        return in_sheet(token.text);
      case TokenKind::identifier:
        return identifier();
      default:
        break;
    }
    if (token.is("(")) {
      open();
      const NodeId inner = expression();
      close(")", token);
      return inner;
    }
    if (token.is("{")) return array_literal();
    fail("Expected a value, a name, a function or `(`, but " + found(token) + ".");
  }

  NodeId identifier() {
    const Token token = token_;
    advance();
    const bool touches = token_.span.offset == token.span.offset + token.span.length;
    if (token_.is("(") && (touches || !options_.calls_touch)) return call(token);
    if (token_.is("!") && options_.cells) return in_sheet(std::string(token.spelling));
    if (equal_without_case(token.spelling, "TRUE")) return add(Literal{Value(true)}, token.span.offset);
    if (equal_without_case(token.spelling, "FALSE")) return add(Literal{Value(false)}, token.span.offset);
    if (options_.cells) {
      if (token_.is(":")) return range(token, {});
      if (const auto part = parse_address_part(token.spelling); part && part->row && part->column) {
        return add(CellReference{{*part->row, *part->column, *part->row, *part->column, {}}}, token.span.offset);
      }
    }
    if (token.spelling.find('$') != std::string_view::npos) {
      throw SyntaxError("`" + std::string(token.spelling) + "` is no cell; cells are written A1, $A1, A$1 or $A$1.",
                        token.span.offset, token.span.length);
    }
    return add(Name{std::string(token.spelling), NameKind::plain}, token.span.offset);
  }

  NodeId in_sheet(const std::string& sheet) {
    if (!token_.is("!")) fail("Expected `!` behind the name of a sheet, but " + found(token_) + ".");
    advance();
    const Token first = token_;
    advance();
    if (token_.is(":")) return range(first, sheet);
    const auto part = parse_address_part(first.spelling);
    if (!part || !part->row || !part->column) {
      throw SyntaxError("Expected a cell behind the name of a sheet, but " + found(first) + ".", first.span.offset,
                        std::max<std::size_t>(first.span.length, 1));
    }
    return add(CellReference{{*part->row, *part->column, *part->row, *part->column, sheet}}, first.span.offset);
  }

  NodeId range(const Token& first_token, const std::string& sheet) {
    advance();  // the colon
    const Token last_token = token_;
    const auto first = parse_address_part(first_token.spelling);
    const auto last = parse_address_part(last_token.spelling);
    const bool fits = first && last && first->row.has_value() == last->row.has_value() &&
                      first->column.has_value() == last->column.has_value();
    if (!fits) {
      fail("Expected a range such as A1:B3, A:C or 1:3, but `" + std::string(first_token.spelling) +
           ":` is followed by " +
           (last_token.kind == TokenKind::end ? "nothing" : "`" + std::string(last_token.spelling) + "`") + ".");
    }
    advance();
    const auto [top, bottom] = std::minmax({first->row.value_or(0), last->row.value_or(kMostRows - 1)});
    const auto [start, end] = std::minmax({first->column.value_or(0), last->column.value_or(kMostColumns - 1)});
    return add(CellReference{{top, start, bottom, end, sheet}}, first_token.span.offset);
  }

  NodeId array_literal() {
    const Token opening = token_;
    open();
    std::vector<Value> cells;
    std::size_t rows = 1, columns = 0, in_row = 0;
    while (true) {
      cells.push_back(array_element());
      ++in_row;
      if (token_.is(",")) {
        advance();
        continue;
      }
      if (columns == 0) columns = in_row;
      if (in_row != columns) {
        fail("Each row of an array needs the same number of values: the first has " + std::to_string(columns) +
             ", row " + std::to_string(rows) + " has " + std::to_string(in_row) + ".");
      }
      if (!token_.is(";")) break;
      advance();
      ++rows;
      in_row = 0;
    }
    close("}", opening);
    return add(Literal{Value(Array(rows, columns, std::move(cells)))}, opening.span.offset);
  }

  Value array_element() {
    bool negative = false;
    const bool is_signed = token_.is("-") || token_.is("+");
    if (is_signed) {
      negative = token_.is("-");
      advance();
    }
    const Token token = token_;
    if (token.kind == TokenKind::number) {
      advance();
      double number = negative ? -token.number : token.number;
      while (token_.is("%")) {
        number /= 100;
        advance();
      }
      return Value(number);
    }
    if (!is_signed) {
      if (token.kind == TokenKind::text || token.kind == TokenKind::error) {
        advance();
        return token.kind == TokenKind::text ? Value(token.text) : Value(token.error);
      }
      if (token.kind == TokenKind::identifier) {
        const bool is_true = equal_without_case(token.spelling, "TRUE");
        if (is_true || equal_without_case(token.spelling, "FALSE")) {
          advance();
          return Value(is_true);
        }
      }
    }
    fail("Expected a number, a text in quotes, TRUE, FALSE or an error value in an array, but " + found(token_) + ".");
  }

  const Function* function_named(std::string_view name) const {
    for (const Function& own : options_.own_functions) {
      if (equal_without_case(own.name, name)) return &own;
    }
    return find_function(name);
  }

  std::string_view near_function(std::string_view name) const {
    std::vector<std::string_view> names;
    for (const Function& own : options_.own_functions) names.push_back(own.name);
    for (const Function& each : all_functions()) names.push_back(each.name);
    return nearest_of(name, names);
  }

  NodeId call(const Token& name) {
    const Function* function = function_named(name.spelling);
    if (function == nullptr) {
      const std::string near(near_function(name.spelling));
      throw SyntaxError("There is no function `" + std::string(name.spelling) + "`." +
                            (near.empty() ? "" : " Did you mean `" + near + "`?"),
                        name.span.offset, name.span.length, near);
    }
    const Token opening = token_;
    open();
    std::vector<NodeId> arguments;
    const bool conditional = function->has(Trait::aggregate);
    if (!token_.is(")") && !(conditional && is_word("where"))) {
      while (true) {
        const bool left_out = token_.is(",") || token_.is(")");
        arguments.push_back(left_out ? add(Literal{Value::omitted()}, token_.span.offset) : expression());
        if (arguments.size() > kMostArguments) {
          fail("A function takes at most " + std::to_string(kMostArguments) + " arguments.");
        }
        if (!token_.is(",")) break;
        advance();
      }
    }
    std::optional<NodeId> where;
    if (conditional && is_word("where")) {
      advance();
      where = expression();
    }
    if (!token_.is(")")) {
      fail("Expected `,` or `)` in the arguments of " + std::string(function->name) + ", but " + found(token_) + ".");
    }
    close(")", opening);
    check_arguments(*function, name, arguments);
    return add_call(*function, arguments, name.span.offset, where);
  }

  NodeId add_call(const Function& function, const std::vector<NodeId>& arguments, std::size_t offset,
                  std::optional<NodeId> where = std::nullopt) {
    const auto first = static_cast<std::uint32_t>(tree_.arguments_.size());
    tree_.arguments_.insert(tree_.arguments_.end(), arguments.begin(), arguments.end());
    return add(Call{&function, first, static_cast<std::uint32_t>(arguments.size()), where}, offset);
  }

  void check_arguments(const Function& function, const Token& name, const std::vector<NodeId>& arguments) const {
    const Arity arity = function.arity();
    const auto refuse = [&](const std::string& sentence) {
      throw SyntaxError(sentence + " It is written " + function.signature() + ".", name.span.offset, name.span.length);
    };
    const auto counted = [](std::size_t count) {
      return std::to_string(count) + (count == 1 ? " argument" : " arguments");
    };
    if (arguments.size() < arity.least) {
      refuse(std::string(function.name) + " needs at least " + counted(arity.least) + ", not " +
             std::to_string(arguments.size()) + ".");
    }
    if (arguments.size() > arity.most) {
      refuse(std::string(function.name) + " takes at most " + counted(arity.most) + ", not " +
             std::to_string(arguments.size()) + ".");
    }
    if (!function.has(Trait::binds_names)) return;
    if (arguments.size() % 2 == 0)
      refuse(std::string(function.name) + " needs a name and a value for each, then the result.");
    for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
      const auto* bound = std::get_if<Name>(&tree_.nodes_[arguments[i]].content);
      if (bound == nullptr || bound->kind != NameKind::plain) {
        const SourceSpan span = tree_.nodes_[arguments[i]].span;
        throw SyntaxError("Expected a name that " + std::string(function.name) + " gives to the value behind it.",
                          span.offset, std::max<std::size_t>(span.length, 1));
      }
    }
  }

  std::string_view source_;
  const ParseOptions& options_;
  Lexer lexer_;
  Token token_;
  std::size_t last_end_ = 0;
  int nesting_ = 0;
  int parentheses_ = 0;
  SyntaxTree tree_;
};

SyntaxTree parse(std::string_view source, const ParseOptions& options) {
  Parser parser(source, 0, options);
  parser.skip_leading_equals();
  parser.expression();
  parser.expect_end();
  return parser.take();
}

ParsedPrefix parse_prefix(std::string_view source, std::size_t offset, const ParseOptions& options) {
  Parser parser(source, offset, options);
  parser.expression();
  const std::size_t end = parser.next_offset();
  return {parser.take(), end};
}

}  // namespace glmhost::formula
