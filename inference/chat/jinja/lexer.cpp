#include "inference/chat/jinja/lexer.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "inference/chat/jinja/fault.h"
#include "inference/chat/jinja/python_text.h"

namespace glmhost::jinja {
namespace {

std::string normalized(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      out += source[i];
    } else if (i + 1 == source.size() || source[i + 1] != '\n') {
      out += '\n';
    }
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool begins_name(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_in_name(char c) {
  return begins_name(c) || is_digit(c);
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) { out_.source = normalized(source); }

  Tokens run() {
    while (at_ < source().size()) between_tags();
    add(TokenKind::end, at_, "");
    return std::move(out_);
  }

 private:
  const std::string& source() const { return out_.source; }
  std::string_view rest() const { return std::string_view(source()).substr(at_); }
  bool follows(std::string_view text) const { return rest().starts_with(text); }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < source().size() ? source()[at_ + ahead] : '\0'; }
  [[noreturn]] void error(std::size_t offset, const std::string& message) const {
    syntax_error(source(), offset, message);
  }

  Token& add(TokenKind kind, std::size_t offset, std::string text) {
    line_ += static_cast<int>(std::count(source().begin() + static_cast<std::ptrdiff_t>(counted_),
                                         source().begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
    counted_ = offset;
    Token& token = out_.all.emplace_back();
    token.kind = kind;
    token.text = std::move(text);
    token.offset = offset;
    token.line = line_;
    return token;
  }

  void skip_blanks() {
    while (const std::size_t blank = leading_blank(rest())) at_ += blank;
  }

  // Behind a tag that ends at at_.
  void end_tag(bool trims_all, bool trims_line_end) {
    if (trims_all) {
      const std::size_t before = at_;
      skip_blanks();
      begins_line_ = at_ > before && source()[at_ - 1] == '\n';
    } else if (trims_line_end && peek() == '\n') {
      ++at_;
      begins_line_ = true;
    } else {
      begins_line_ = false;
    }
  }

  // --- outside of tags

  std::size_t next_tag() const {
    for (std::size_t i = at_; (i = source().find('{', i)) != std::string::npos; ++i) {
      const char second = i + 1 < source().size() ? source()[i + 1] : '\0';
      if (second == '{' || second == '%' || second == '#') return i;
    }
    return source().size();
  }

  // The text from at_ to the tag, less what the tag's sign and its place in the line take away.
  void add_text(std::size_t tag, char sign, bool is_output) {
    std::string_view text = std::string_view(source()).substr(at_, tag - at_);
    if (sign == '-') {
      while (const std::size_t blank = trailing_blank(text)) text.remove_suffix(blank);
    } else if (sign != '+' && !is_output) {
      const std::size_t line_end = text.rfind('\n');
      const std::size_t line = line_end == std::string_view::npos ? 0 : line_end + 1;
      const bool whole_line = line > 0 || begins_line_;
      if (whole_line && strip(text.substr(line)).empty()) text = text.substr(0, line);
    }
    if (!text.empty()) add(TokenKind::text, at_, std::string(text));
  }

  void between_tags() {
    const std::size_t tag = next_tag();
    if (tag == source().size()) {
      add(TokenKind::text, at_, std::string(rest()));
      at_ = tag;
      return;
    }
    const char kind = source()[tag + 1];
    const char sign = tag + 2 < source().size() ? source()[tag + 2] : '\0';
    add_text(tag, sign, kind == '{');
    at_ = tag + 2 + (sign == '-' || sign == '+' ? 1 : 0);
    if (kind == '#') {
      comment(tag);
    } else if (kind == '{') {
      add(TokenKind::output_begin, tag, "{{");
      inside(TokenKind::output_end, tag);
    } else if (!raw(tag)) {
      add(TokenKind::block_begin, tag, "{%");
      inside(TokenKind::block_end, tag);
    }
  }

  void comment(std::size_t tag) {
    const std::size_t close = source().find("#}", at_);
    if (close == std::string::npos) error(tag, "this comment has no end: #} is missing");
    const char sign = close > at_ ? source()[close - 1] : '\0';
    at_ = close + 2;
    end_tag(sign == '-', sign != '+');
  }

  // {% raw %} ... {% endraw %}: text as it stands.
  bool raw(std::size_t tag) {
    const std::size_t start = at_;
    if (!raw_word("raw")) {
      at_ = start;
      return false;
    }
    const bool trims = peek() == '-';
    at_ += trims ? 3 : 2;
    if (trims) skip_blanks();
    const std::size_t text = at_;
    for (std::size_t i = at_; (i = source().find("{%", i)) != std::string::npos; i += 2) {
      at_ = i + 2;
      const char sign = peek();
      if (sign == '-' || sign == '+') ++at_;
      if (!raw_word("endraw")) continue;
      const std::size_t behind = at_;
      at_ = text;
      begins_line_ = false;
      add_text(i, sign, false);
      at_ = behind;
      const char last = peek();
      at_ += last == '-' || last == '+' ? 3 : 2;
      end_tag(last == '-', last != '+');
      return true;
    }
    error(tag, "this raw block has no end: {% endraw %} is missing");
  }

  // Goes to the block's end when there is nothing but the word before it.
  bool raw_word(std::string_view word) {
    skip_blanks();
    if (!follows(word)) return false;
    at_ += word.size();
    skip_blanks();
    return follows("%}") || follows("-%}") || (word == "endraw" && follows("+%}"));
  }

  // --- inside of tags

  void inside(TokenKind end, std::size_t tag) {
    brackets_.clear();
    while (true) {
      skip_blanks();
      if (at_ >= source().size()) {
        error(tag, std::string("this tag has no end: ") + (end == TokenKind::block_end ? "%}" : "}}") + " is missing");
      }
      if (brackets_.empty() && ends(end)) return;
      token();
    }
  }

  bool ends(TokenKind end) {
    const std::string_view close = end == TokenKind::block_end ? "%}" : "}}";
    const char sign = peek();
    const bool signed_end = sign == '-' || (sign == '+' && end == TokenKind::block_end);
    const std::size_t skip = signed_end && rest().substr(1).starts_with(close) ? 1 : 0;
    if (skip == 0 && !follows(close)) return false;
    add(end, at_, std::string(close));
    at_ += skip + 2;
    end_tag(skip == 1 && sign == '-', skip == 0 && end == TokenKind::block_end);
    return true;
  }

  void token() {
    const char c = peek();
    if (is_digit(c)) {
      number();
    } else if (begins_name(c)) {
      const std::size_t begin = at_;
      while (at_ < source().size() && is_in_name(source()[at_])) ++at_;
      add(TokenKind::name, begin, source().substr(begin, at_ - begin));
    } else if (c == '"' || c == '\'') {
      string(c);
    } else {
      sign();
    }
  }

  void sign() {
    constexpr std::string_view kSigns[] = {"**", "//", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "~", "<",
                                           ">",  "=",  "(",  ")",  "[",  "]",  "{", "}", ".", ":", "|", ",", ";"};
    for (const std::string_view each : kSigns) {
      if (!follows(each)) continue;
      if (each == "(" || each == "[" || each == "{") brackets_ += each == "(" ? ')' : each == "[" ? ']' : '}';
      if (each == ")" || each == "]" || each == "}") {
        if (brackets_.empty()) error(at_, "this '" + std::string(each) + "' closes nothing");
        if (brackets_.back() != each[0]) {
          error(at_, "expected '" + std::string(1, brackets_.back()) + "', but found '" + std::string(each) + "'");
        }
        brackets_.pop_back();
      }
      add(TokenKind::sign, at_, std::string(each));
      at_ += each.size();
      return;
    }
    const std::string shown = source().substr(at_, character_bytes(source(), at_));
    if (static_cast<unsigned char>(shown[0]) < 0x20) error(at_, "there is a control character");
    error(at_, "unexpected character '" + shown + "'");
  }

  std::string digits(const char* also = "") {
    std::string out;
    for (; is_digit(peek()) || (peek() != '\0' && std::string_view(also).find(peek()) != std::string_view::npos) ||
           (peek() == '_' && !out.empty() && std::isalnum(static_cast<unsigned char>(peek(1))) != 0);
         ++at_) {
      if (peek() != '_') out += peek();
    }
    return out;
  }

  void number() {
    const std::size_t begin = at_;
    const char prefix = static_cast<char>(std::tolower(static_cast<unsigned char>(peek(1))));
    if (peek() == '0' && (prefix == 'x' || prefix == 'o' || prefix == 'b')) {
      at_ += 2;
      return whole(begin, digits("abcdefABCDEF"), prefix == 'x' ? 16 : prefix == 'o' ? 8 : 2);
    }
    std::string text = digits();
    const bool is_element = begin > 0 && source()[begin - 1] == '.';  // x.0.1
    const bool fraction = !is_element && peek() == '.' && is_digit(peek(1));
    if (fraction) {
      ++at_;
      text += '.' + digits();
    }
    const bool is_signed = peek(1) == '+' || peek(1) == '-';
    const bool exponent = !is_element && (peek() == 'e' || peek() == 'E') && is_digit(peek(is_signed ? 2 : 1));
    if (exponent) {
      text += 'e';
      if (peek(1) == '-') text += '-';
      at_ += is_signed ? 2 : 1;
      text += digits();
    }
    if (!fraction && !exponent) return whole(begin, text, 10);
    double value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc()) error(begin, "this number is too large");
    add(TokenKind::real, begin, source().substr(begin, at_ - begin)).real = value;
  }

  void whole(std::size_t begin, const std::string& text, int base) {
    Int value = 0;
    if (text.empty()) error(begin, "this number has no digits");
    for (const char c : text) {
      const int digit = is_digit(c) ? c - '0' : std::tolower(static_cast<unsigned char>(c)) - 'a' + 10;
      if (digit >= base) error(begin, "this number has a digit that is none");
      if (__builtin_mul_overflow(value, Int{base}, &value) || __builtin_add_overflow(value, Int{digit}, &value)) {
        error(begin, "this number is too large");
      }
    }
    add(TokenKind::integer, begin, source().substr(begin, at_ - begin)).whole = value;
  }

  void string(char quote) {
    const std::size_t begin = at_++;
    std::string out;
    while (true) {
      const char c = peek();
      if (at_ >= source().size()) error(begin, std::string("this string has no end: ") + quote + " is missing");
      ++at_;
      if (c == quote) break;
      if (c == '\\') {
        escape(out);
      } else {
        out += c;
      }
    }
    add(TokenKind::string, begin, std::move(out));
  }

  void escape(std::string& out) {
    constexpr std::string_view kLetters = "ntr\\'\"abfv";
    constexpr std::string_view kMeanings = "\n\t\r\\'\"\a\b\f\v";
    const std::size_t backslash = at_ - 1;
    const char c = peek();
    if (at_ >= source().size()) error(backslash, "this string has no end");
    ++at_;
    if (const std::size_t i = kLetters.find(c); i != std::string_view::npos) {
      out += kMeanings[i];
    } else if (c == '\n') {
      return;  // the string goes on in the next line
    } else if (c == 'x' || c == 'u' || c == 'U') {
      code_point(out, backslash, c == 'x' ? 2 : c == 'u' ? 4 : 8);
    } else if (c >= '0' && c <= '7') {
      char32_t code = static_cast<char32_t>(c - '0');
      for (int more = 0; more < 2 && peek() >= '0' && peek() <= '7'; ++more) {
        code = code * 8 + static_cast<char32_t>(source()[at_++] - '0');
      }
      append_utf8(out, code);
    } else {
      out += '\\';
      out += c;
    }
  }

  void code_point(std::string& out, std::size_t backslash, int digits_wanted) {
    char32_t code = 0;
    for (; digits_wanted > 0; --digits_wanted) {
      const char c = peek();
      if (std::isxdigit(static_cast<unsigned char>(c)) == 0) error(backslash, "this escape has too few digits");
      code = code * 16 +
             static_cast<char32_t>(is_digit(c) ? c - '0' : std::tolower(static_cast<unsigned char>(c)) - 'a' + 10);
      ++at_;
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) error(backslash, "this escape is no character");
    append_utf8(out, code);
  }

  Tokens out_;
  std::size_t at_ = 0;
  bool begins_line_ = true;
  std::string brackets_;  // that are open, by what closes them
  int line_ = 1;
  std::size_t counted_ = 0;  // up to where line_ is right
};

}  // namespace

Tokens tokenize(std::string_view source) {
  return Lexer(source).run();
}

void syntax_error(std::string_view source, std::size_t offset, const std::string& message) {
  const std::string_view before = source.substr(0, offset);
  const int line = 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t line_end = before.rfind('\n');
  const int column =
      1 + static_cast<int>(count_characters(before.substr(line_end == std::string_view::npos ? 0 : line_end + 1)));
  throw TemplateError(Failure::syntax, line, column,
                      "The chat template has a syntax error in line " + std::to_string(line) + ", column " +
                          std::to_string(column) + ": " + message + ".");
}

}  // namespace glmhost::jinja
