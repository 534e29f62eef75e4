// Splits an expression into tokens. Never reads past the source and needs no memory of its own.
#pragma once

#include <string>
#include <string_view>

#include "excel-addin/formula/parser.h"
#include "excel-addin/formula/syntax_tree.h"

namespace glmhost::formula {

enum class TokenKind : std::uint8_t {
  end,
  number,
  text,
  error,
  identifier,
  quoted_sheet,
  bracketed,
  position,
  symbol,
};

struct Token {
  TokenKind kind = TokenKind::end;
  SourceSpan span;
  std::string_view spelling;  // of the source
  double number = 0;
  std::string text;  // of a text, bracketed name or quoted sheet, without its quotes
  ErrorCode error = ErrorCode::value;

  bool is(std::string_view symbol) const { return kind == TokenKind::symbol && spelling == symbol; }
};

class Lexer {
 public:
  Lexer(std::string_view source, std::size_t offset, const ParseOptions& options)
      : source_(source), at_(offset), options_(options) {}

  // Throws SyntaxError for what begins no token, and for a text or name that does not end.
  Token next();

  // A line end is blank inside of parentheses, whatever the options say.
  void set_inside_parentheses(bool inside) { inside_parentheses_ = inside; }

 private:
  void skip_blanks();
  Token number_token();
  Token text_token(char quote, TokenKind kind);
  Token bracketed_token();
  Token hash_token();
  Token symbol_token();
  Token identifier_token();
  Token finish(TokenKind kind, std::size_t start) const;

  std::string_view source_;
  std::size_t at_;
  const ParseOptions& options_;
  bool inside_parentheses_ = false;
};

}  // namespace glmhost::formula
