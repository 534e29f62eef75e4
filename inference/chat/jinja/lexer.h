// From the source of a template to its tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "inference/chat/jinja/value.h"

namespace glmhost::jinja {

enum class TokenKind { text, block_begin, block_end, output_begin, output_end, name, string, integer, real, sign, end };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;  // of a string: what it stands for
  Int whole = 0;
  double real = 0;
  std::size_t offset = 0;  // in the source
  int line = 1;

  bool is_sign(std::string_view wanted) const { return kind == TokenKind::sign && text == wanted; }
  bool is_name(std::string_view wanted) const { return kind == TokenKind::name && text == wanted; }
};

struct Tokens {
  std::string source;      // with \n line ends and without the last one of them: what offsets count in
  std::vector<Token> all;  // the last one is an end
};

// White space as transformers sets it: the line end behind a block goes (trim_blocks), and so do the blanks before a
// block that begins its line (lstrip_blocks); "-" takes away all white space at its side, "+" keeps it.
// Throws TemplateError(syntax).
Tokens tokenize(std::string_view source);

// Throws TemplateError(syntax) that names line and column of the offset.
[[noreturn]] void syntax_error(std::string_view source, std::size_t offset, const std::string& message);

}  // namespace glmhost::jinja
