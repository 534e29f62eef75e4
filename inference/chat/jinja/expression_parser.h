// The parser of what stands between the signs of a tag; part of the parser.
#pragma once

#include <initializer_list>
#include <set>

#include "inference/chat/jinja/lexer.h"
#include "inference/chat/jinja/syntax.h"

namespace glmhost::jinja {

inline constexpr int kMaxSyntaxDepth = 200;  // of expressions and statements inside one another

class ExpressionParser {
 public:
  explicit ExpressionParser(const Tokens& tokens) : tokens_(tokens) {}

  // --- tokens
  const Token& current() const { return tokens_.all[at_]; }
  const Token& ahead() const { return tokens_.all[std::min(at_ + 1, tokens_.all.size() - 1)]; }
  const Token& next();  // the current one, and goes on
  bool skip_sign(std::string_view sign);
  bool skip_name(std::string_view name);
  void expect_sign(std::string_view sign);
  void expect_name(std::string_view name);
  std::string expect_any_name();
  [[noreturn]] void error(const Token& at, const std::string& message) const;
  [[noreturn]] void unexpected(const std::string& wanted) const;

  // --- expressions
  ExpressionPtr expression(bool with_condition = true);
  // Several with commas between are a tuple. Ends at the end of the tag, `)` or one of these names.
  ExpressionPtr tuple(bool with_condition = true, std::initializer_list<std::string_view> end_names = {});
  ExpressionPtr filters(ExpressionPtr input);  // | name(...) ...; of a filter block: without the first |
  ExpressionPtr filter(ExpressionPtr input);
  Target target(std::initializer_list<std::string_view> end_names, bool with_namespace);

  std::set<std::string> names;

  // Counts how deep the parser is in its own recursion.
  class Level {
   public:
    explicit Level(ExpressionParser& parser);
    ~Level() { --parser_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    ExpressionParser& parser_;
  };

 private:
  using Kind = Expression::Kind;
  using Node = std::unique_ptr<Expression>;

  Node make(Kind kind, const Token& at) const;
  ExpressionPtr finish(Node node, const Token& at) const;  // checks the depth
  ExpressionPtr join(Kind kind, const Token& at, ExpressionPtr left, ExpressionPtr right,
                     std::initializer_list<Operator> operators = {}) const;

  ExpressionPtr condition();
  ExpressionPtr either();
  ExpressionPtr both();
  ExpressionPtr negation();
  ExpressionPtr comparison();
  ExpressionPtr sum();
  ExpressionPtr concatenation();
  ExpressionPtr product();
  ExpressionPtr power();
  ExpressionPtr unary(bool with_filters = true);
  ExpressionPtr primary();
  ExpressionPtr list();
  ExpressionPtr dict();
  ExpressionPtr postfix(ExpressionPtr value);
  ExpressionPtr postfix_or_filter(ExpressionPtr value);
  ExpressionPtr member(ExpressionPtr value);
  ExpressionPtr subscript(ExpressionPtr value);
  ExpressionPtr call(ExpressionPtr callee);
  ExpressionPtr test(ExpressionPtr value);
  void arguments(Expression& node);
  Target single_target(bool with_namespace);
  bool ends_tuple(std::initializer_list<std::string_view> end_names) const;

  const Tokens& tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace glmhost::jinja
