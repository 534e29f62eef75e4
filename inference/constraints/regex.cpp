#include "inference/constraints/regex.h"

#include <algorithm>
#include <optional>

#include "inference/constraints/text_scanner.h"
#include "inference/error.h"
#include "inference/tokenizer/utf8.h"

namespace glmhost::constraints {
namespace {

constexpr int kMostDepth = 200;
constexpr std::uint32_t kMostRepetitions = 100'000;
constexpr std::size_t kMostShown = 80;

std::string shown(std::string_view pattern) {
  return tokenizer::replace_invalid_utf8(pattern.substr(0, kMostShown)) + (pattern.size() > kMostShown ? "..." : "");
}

std::optional<int> hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

class Parser : TextScanner {
 public:
  explicit Parser(std::string_view pattern) : TextScanner(pattern) {
    if (!tokenizer::is_valid_utf8(pattern)) refuse("it is not valid UTF-8");
  }

  Expression parse() {
    Expression expression = alternation(0);
    if (!done()) refuse("there is a `)` without its `(`");
    return expression;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorKind::bad_argument, "The regular expression `" + shown(text_) + "` cannot be used: at character " +
                                             std::to_string(position_ + 1) + ", " + why + ".");
  }

  Expression alternation(int depth) {
    if (depth > kMostDepth) refuse("groups are nested more than " + std::to_string(kMostDepth) + " deep");
    std::vector<Expression> choices;
    do {
      choices.push_back(sequence(depth));
    } while (take("|"));
    return choices.size() == 1 ? std::move(choices[0]) : Expression::alternation(std::move(choices));
  }

  Expression sequence(int depth) {
    std::vector<Expression> parts;
    while (!done() && peek() != '|' && peek() != ')') {
      Expression part = atom(depth);
      // In ECMA-262 ^ and $ take no quantifier.
      const bool is_anchor = part.kind == Expression::Kind::text_begin || part.kind == Expression::Kind::text_end;
      bool quantified = false;
      while (auto counts = quantifier()) {
        if (is_anchor || quantified) refuse("there is nothing that this quantifier could repeat");
        quantified = true;
        part = Expression::repetition(std::move(part), counts->first, counts->second);
      }
      parts.push_back(std::move(part));
    }
    return parts.size() == 1 ? std::move(parts[0]) : Expression::sequence(std::move(parts));
  }

  std::optional<std::pair<std::uint32_t, std::uint32_t>> quantifier() {
    std::optional<std::pair<std::uint32_t, std::uint32_t>> counts;
    if (take("*")) {
      counts = {0, kUnbounded};
    } else if (take("+")) {
      counts = {1, kUnbounded};
    } else if (take("?")) {
      counts = {0, 1};
    } else if (next_is("{")) {
      counts = braces();
    }
    if (counts) take("?");  // lazy: the same texts match
    return counts;
  }

  std::optional<std::uint32_t> number() {
    if (done() || peek() < '0' || peek() > '9') return std::nullopt;
    std::uint64_t value = 0;
    while (!done() && peek() >= '0' && peek() <= '9') {
      value = std::min<std::uint64_t>(value * 10 + static_cast<std::uint64_t>(peek() - '0'), kMostRepetitions + 1);
      ++position_;
    }
    if (value > kMostRepetitions) refuse("a repetition count is above " + std::to_string(kMostRepetitions));
    return static_cast<std::uint32_t>(value);
  }

  // {m}, {m,}, {m,n}; anything else is a literal brace.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> braces() {
    const std::size_t begin = position_;
    take("{");
    const auto least = number();
    if (least && take("}")) return {{*least, *least}};
    if (least && take(",")) {
      if (take("}")) return {{*least, kUnbounded}};
      const auto most = number();
      if (most && take("}")) {
        if (*most < *least) refuse("the counts of a repetition are in the wrong order");
        return {{*least, *most}};
      }
    }
    position_ = begin;
    return std::nullopt;
  }

  Expression atom(int depth) {
    if (take("^")) return Expression::of_kind(Expression::Kind::text_begin);
    if (take("$")) return Expression::of_kind(Expression::Kind::text_end);
    if (take("(")) return group(depth);
    if (take("[")) return Expression::of_characters(character_class());
    if (take(".")) {
      CodePointSet line_ends({{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}});
      return Expression::of_characters(line_ends.complement());
    }
    if (next_is("*") || next_is("+") || next_is("?")) refuse("there is nothing that this quantifier could repeat");
    if (take("\\")) {
      if (done()) refuse("it ends with a backslash");
      if (const auto set = class_escape()) return Expression::of_characters(*set);
      if (next_is("b") || next_is("B")) refuse("word boundaries (\\b, \\B) are not supported");
      if (next_is("k") || (peek() >= '1' && peek() <= '9')) refuse("back references are not supported");
      return literal(character_escape());
    }
    return literal(take_character());
  }

  static Expression literal(char32_t c) {
    if (c >= 0xD800 && c <= 0xDFFF) return Expression::alternation({});  // half a pair: in no text
    std::string text;
    append_utf8(c, text);
    return Expression::of_text(text);
  }

  Expression group(int depth) {
    if (take("?")) {
      if (next_is("=") || next_is("!") || next_is("<=") || next_is("<!")) {
        refuse("look-around ((?=, (?!, (?<=, (?<!) is not supported");
      }
      if (!take(":")) {
        take("P");  // Python's way of naming a group
        if (!take("<")) refuse("the group's kind is not known");
        while (!done() && peek() != '>') ++position_;
        if (!take(">")) refuse("the name of a group does not end");
      }
    }
    Expression inside = alternation(depth + 1);
    if (!take(")")) refuse("a `(` has no `)`");
    return inside;
  }

  // After the backslash: \d and its like.
  std::optional<CodePointSet> class_escape() {
    switch (peek()) {
      case 'd':
        ++position_;
        return digits();
      case 'D':
        ++position_;
        return digits().complement();
      case 'w':
        ++position_;
        return word_characters();
      case 'W':
        ++position_;
        return word_characters().complement();
      case 's':
        ++position_;
        return white_space();
      case 'S':
        ++position_;
        return white_space().complement();
      case 'p':
      case 'P': {
        const bool negated = peek() == 'P';
        ++position_;
        const std::size_t end = text_.find('}', position_);
        if (!next_is("{") || end == std::string_view::npos) refuse("\\p needs a property in braces, as in \\p{L}");
        const std::string_view name = text_.substr(position_ + 1, end - position_ - 1);
        auto set = property(name);
        if (!set) refuse("the Unicode property `" + std::string(name.substr(0, 40)) + "` is not supported");
        position_ = end + 1;
        return negated ? set->complement() : *set;
      }
      default:
        return std::nullopt;
    }
  }

  std::optional<char32_t> hex(std::size_t count) {
    if (text_.size() - position_ < count) return std::nullopt;
    char32_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto digit = hex_value(text_[position_ + i]);
      if (!digit) return std::nullopt;
      value = value * 16 + static_cast<char32_t>(*digit);
    }
    position_ += count;
    return value;
  }

  // After \u.
  char32_t unicode_escape() {
    if (take("{")) {
      char32_t value = 0;
      std::size_t count = 0;
      while (!done() && hex_value(peek()) && value <= kLastCodePoint) {
        value = value * 16 + static_cast<char32_t>(*hex_value(peek()));
        ++position_;
        ++count;
      }
      if (count == 0 || value > kLastCodePoint || !take("}")) refuse("\\u{...} is not a code point");
      return value;
    }
    const auto first = hex(4);
    if (!first) refuse("\\u needs four hexadecimal digits");
    if (*first < 0xD800 || *first > 0xDBFF) return *first;
    const std::size_t begin = position_;
    if (take("\\u")) {
      const auto second = hex(4);
      if (second && *second >= 0xDC00 && *second <= 0xDFFF) {
        return 0x10000 + ((*first - 0xD800) << 10) + (*second - 0xDC00);
      }
    }
    position_ = begin;
    return *first;
  }

  // After the backslash: one character.
  char32_t character_escape() {
    const char32_t c = take_character();
    switch (c) {
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      case 'f':
        return '\f';
      case 'v':
        return '\v';
      case '0':
        return 0;
      case 'c': {
        if (done()) refuse("\\c needs a letter");
        const char32_t letter = take_character();
        const bool is_letter = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
        if (!is_letter) refuse("\\c needs a letter");
        return letter % 32;
      }
      case 'x': {
        const auto value = hex(2);
        if (!value) refuse("\\x needs two hexadecimal digits");
        return *value;
      }
      case 'u':
        return unicode_escape();
      default:
        break;
    }
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      std::string name;
      append_utf8(c, name);
      refuse("the escape \\" + name + " is not known");
    }
    return c;
  }

  CodePointSet character_class() {
    const bool negated = take("^");
    CodePointSet set;
    while (true) {
      if (done()) refuse("a `[` has no `]`");
      if (take("]")) break;
      const auto [first_set, first] = class_member();
      if (first_set) {
        set.add(*first_set);
        continue;
      }
      // A hyphen makes a range only between two characters; elsewhere it stands for itself, as in [\w-.] and [a-].
      if (next_is("-") && !next_is("-]")) {
        const std::size_t hyphen = position_++;
        if (done()) refuse("a `[` has no `]`");
        const auto [last_set, last] = class_member();
        if (last_set) {
          set.add(CodePointSet::single(first));
          set.add(CodePointSet::single('-'));
          set.add(*last_set);
          continue;
        }
        if (last < first) {
          position_ = hyphen;
          refuse("the ends of a range are in the wrong order");
        }
        set.add(CodePointSet({{first, last}}));
        continue;
      }
      set.add(CodePointSet::single(first));
    }
    return negated ? set.complement() : set;
  }

  std::pair<std::optional<CodePointSet>, char32_t> class_member() {
    if (!take("\\")) return {std::nullopt, take_character()};
    if (done()) refuse("it ends with a backslash");
    if (auto set = class_escape()) return {std::move(set), 0};
    if (take("b")) return {std::nullopt, '\b'};
    return {std::nullopt, character_escape()};
  }
};

}  // namespace

Expression parse_regex(std::string_view pattern) {
  return Parser(pattern).parse();
}

DfaPointer regex_dfa(std::string_view pattern, Match match) {
  return to_dfa(parse_regex(pattern), match, "The regular expression `" + shown(pattern) + "`");
}

}  // namespace glmhost::constraints
