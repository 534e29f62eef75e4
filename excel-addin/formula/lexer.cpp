#include "excel-addin/formula/lexer.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "excel-addin/formula/text_units.h"

namespace glmhost::formula {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter(std::uint32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
      return c != 0xFFFD;
    default:
      return false;
  }
}

// Line ends and tabs are blanks, and so is the space that copying from a page leaves.
bool is_blank(std::uint32_t c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == 0xA0;
}

}  // namespace

Token Lexer::finish(TokenKind kind, std::size_t start) const {
  Token token;
  token.kind = kind;
  token.span = {start, at_ - start};
  token.spelling = source_.substr(start, at_ - start);
  return token;
}

void Lexer::skip_blanks() {
  while (at_ < source_.size()) {
    std::size_t next = at_;
    const std::uint32_t c = next_code_point(source_, next);
    if (!is_blank(c) || (c == '\n' && options_.line_ends_it && !inside_parentheses_)) return;
    at_ = next;
  }
}

Token Lexer::next() {
  skip_blanks();
  if (at_ >= source_.size() || source_[at_] == '\n') return finish(TokenKind::end, at_);
  const char c = source_[at_];
  const char behind = at_ + 1 < source_.size() ? source_[at_ + 1] : '\0';
  if (is_digit(c) || (c == '.' && is_digit(behind))) return number_token();
  if (c == '"') return text_token('"', TokenKind::text);
  if (c == '\'') return text_token('\'', TokenKind::quoted_sheet);
  if (c == '[') return bracketed_token();
  if (c == '#') return hash_token();
  std::size_t next = at_;
  const std::uint32_t point = next_code_point(source_, next);
  if (is_letter(point) || c == '_' || c == '\\' || (c == '$' && options_.cells)) return identifier_token();
  return symbol_token();
}

Token Lexer::number_token() {
  const std::size_t start = at_;
  const auto digits = [&] {
    while (at_ < source_.size() && is_digit(source_[at_])) ++at_;
  };
  digits();
  if (at_ < source_.size() && source_[at_] == '.') {
    ++at_;
    digits();
  }
  if (at_ < source_.size() && (source_[at_] == 'e' || source_[at_] == 'E')) {
    std::size_t power = at_ + 1;
    if (power < source_.size() && (source_[power] == '+' || source_[power] == '-')) ++power;
    if (power < source_.size() && is_digit(source_[power])) {
      at_ = power;
      digits();
    }
  }
  Token token = finish(TokenKind::number, start);
  std::string spelling(token.spelling);
  if (spelling.ends_with('.')) spelling.pop_back();
  std::replace(spelling.begin(), spelling.end(), 'E', 'e');
  if (const auto plus = spelling.find("e+"); plus != std::string::npos) spelling.erase(plus + 1, 1);
  if (spelling.starts_with('.')) spelling.insert(0, "0");
  const auto [end, error] = std::from_chars(spelling.data(), spelling.data() + spelling.size(), token.number);
  if (error == std::errc::result_out_of_range) {
    if (spelling.find("e-") == std::string::npos) {
      throw SyntaxError("This number is too large; the largest is about 1.79E+308.", start, at_ - start);
    }
    token.number = 0;
  }
  return token;
}

Token Lexer::text_token(char quote, TokenKind kind) {
  const std::size_t start = at_++;
  std::string text;
  while (true) {
    const std::size_t close = source_.find(quote, at_);
    if (close == std::string_view::npos) {
      at_ = source_.size();
      throw SyntaxError(kind == TokenKind::text
                            ? "This text has no closing quote (\"). A quote inside of a text is written twice."
                            : "This sheet name has no closing quote (').",
                        start, 1);
    }
    text.append(source_.substr(at_, close - at_));
    at_ = close + 1;
    if (at_ >= source_.size() || source_[at_] != quote) break;
    text += quote;
    ++at_;
  }
  Token token = finish(kind, start);
  token.text = std::move(text);
  return token;
}

Token Lexer::bracketed_token() {
  const std::size_t start = at_++;
  std::string text;
  while (true) {
    const std::size_t close = source_.find(']', at_);
    if (close == std::string_view::npos) {
      throw SyntaxError("This name has no closing bracket (]). A ] inside of a name is written twice.", start, 1);
    }
    text.append(source_.substr(at_, close - at_));
    at_ = close + 1;
    if (at_ >= source_.size() || source_[at_] != ']') break;
    text += ']';
    ++at_;
  }
  Token token = finish(TokenKind::bracketed, start);
  if (text.empty()) throw SyntaxError("The name between the brackets is empty.", start, token.span.length);
  token.text = std::move(text);
  return token;
}

// #N/A, or #3
Token Lexer::hash_token() {
  const std::size_t start = at_;
  if (start + 1 < source_.size() && is_digit(source_[start + 1])) {
    ++at_;
    while (at_ < source_.size() && is_digit(source_[at_])) ++at_;
    return finish(TokenKind::position, start);
  }
  for (const std::string_view name : kErrorNames) {
    if (const auto error = error_named(source_.substr(start, name.size())); error && error_name(*error) == name) {
      at_ += name.size();
      Token token = finish(TokenKind::error, start);
      token.error = *error;
      return token;
    }
  }
  throw SyntaxError("A # begins an error value such as #N/A or #VALUE!, or the number of a column.", start, 1);
}

Token Lexer::symbol_token() {
  constexpr std::array<std::string_view, 6> kLong = {"!==", "==", "!=", "<>", "<=", ">="};
  const std::size_t start = at_;
  for (const std::string_view symbol : kLong) {
    const bool is_word = symbol[0] == '!' || symbol == "==";
    if (source_.substr(at_).starts_with(symbol) && (options_.words || !is_word)) {
      at_ += symbol.size();
      return finish(TokenKind::symbol, start);
    }
  }
  next_code_point(source_, at_);
  return finish(TokenKind::symbol, start);
}

Token Lexer::identifier_token() {
  const std::size_t start = at_;
  while (at_ < source_.size()) {
    std::size_t next = at_;
    const std::uint32_t c = next_code_point(source_, next);
    const bool belongs = is_letter(c) || (c < 0x80 && is_digit(static_cast<char>(c))) || c == '_' || c == '.' ||
                         c == '\\' || c == '?' || (c == '$' && options_.cells);
    if (!belongs) break;
    at_ = next;
  }
  return finish(TokenKind::identifier, start);
}

}  // namespace glmhost::formula
