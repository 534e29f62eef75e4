#include "inference/constraints/gbnf_parser.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "inference/constraints/text_scanner.h"
#include "inference/error.h"
#include "inference/tokenizer/utf8.h"

namespace glmhost::constraints {
namespace {

constexpr std::size_t kMostBytes = 16u << 20;
constexpr int kMostDepth = 200;
constexpr std::uint32_t kMostRepetitions = 100'000;

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

class Parser : TextScanner {
 public:
  explicit Parser(std::string_view text) : TextScanner(text) {
    if (text.size() > kMostBytes)
      throw Error(ErrorKind::bad_argument,
                  "The grammar is larger than 16 MiB. A long list of texts goes into choices, or into an enum.");
    if (!tokenizer::is_valid_utf8(text)) throw Error(ErrorKind::bad_argument, "The grammar is not valid UTF-8.");
  }

  std::vector<GbnfRule> parse() {
    number_of("root");
    skip_space();
    while (!done()) {
      rule();
      skip_space();
    }
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      if (places_[i].defined) continue;
      if (i == 0) throw Error(ErrorKind::bad_argument, "The grammar has no rule `root`, which is where it begins.");
      position_ = places_[i].used;
      refuse("the rule `" + rules_[i].name + "` is used but not defined");
    }
    return std::move(rules_);
  }

 private:
  struct Place {
    bool defined = false;
    std::size_t used = 0;
  };

  [[noreturn]] void refuse(const std::string& why) const {
    const std::string_view before = text_.substr(0, position_);
    const auto line = std::ranges::count(before, '\n') + 1;
    const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    throw Error(ErrorKind::bad_argument, "The grammar cannot be used: in line " + std::to_string(line) + ", column " +
                                             std::to_string(position_ - line_start + 1) + ", " + why + ".");
  }

  void skip_space() {
    while (!done()) {
      if (peek() == '#') {
        while (!done() && peek() != '\n') ++position_;
      } else if (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') {
        ++position_;
      } else {
        return;
      }
    }
  }

  std::string_view name() {
    const std::size_t begin = position_;
    while (!done() && is_name_character(peek())) ++position_;
    if (position_ == begin) refuse("the name of a rule is expected");
    return text_.substr(begin, position_ - begin);
  }

  // Whether a rule begins here: it ends the one before.
  bool at_rule() {
    if (done() || !is_name_character(peek())) return false;
    const std::size_t begin = position_;
    name();
    skip_space();
    const bool is_rule = next_is("::=");
    position_ = begin;
    return is_rule;
  }

  std::uint32_t number_of(std::string_view rule_name) {
    const auto [known, fresh] = numbers_.try_emplace(std::string(rule_name), static_cast<std::uint32_t>(rules_.size()));
    if (fresh) {
      rules_.push_back({std::string(rule_name), {}});
      places_.push_back({false, position_ - rule_name.size()});
    }
    return known->second;
  }

  void rule() {
    const std::size_t begin = position_;
    const std::string_view rule_name = name();
    const std::uint32_t number = number_of(rule_name);
    if (places_[number].defined) {
      position_ = begin;
      refuse("the rule `" + std::string(rule_name) + "` is defined a second time");
    }
    places_[number].defined = true;
    skip_space();
    if (!take("::=")) refuse("::= is expected after the rule's name");
    Expression expression = alternation(0);
    if (!done() && !at_rule()) refuse("this cannot be read");
    rules_[number].expression = std::move(expression);
  }

  Expression alternation(int depth) {
    if (depth > kMostDepth) refuse("groups are nested more than " + std::to_string(kMostDepth) + " deep");
    std::vector<Expression> choices;
    do {
      skip_space();
      choices.push_back(sequence(depth));
    } while (take("|"));
    return choices.size() == 1 ? std::move(choices[0]) : Expression::alternation(std::move(choices));
  }

  Expression sequence(int depth) {
    std::vector<Expression> parts;
    while (!done() && peek() != '|' && peek() != ')' && !at_rule()) {
      Expression part = item(depth);
      skip_space();
      while (const auto counts = quantifier()) {
        part = Expression::repetition(std::move(part), counts->first, counts->second);
        skip_space();
      }
      parts.push_back(std::move(part));
    }
    return parts.size() == 1 ? std::move(parts[0]) : Expression::sequence(std::move(parts));
  }

  Expression item(int depth) {
    if (take("\"")) return quoted();
    if (take("[")) return Expression::of_characters(characters());
    if (take(".")) return Expression::of_characters(CodePointSet({{0, kLastCodePoint}}));
    if (take("(")) {
      Expression inside = alternation(depth + 1);
      if (!take(")")) refuse("a `(` has no `)`");
      return inside;
    }
    if (take("%json")) return schema("%json");
    if (take("%raw")) {
      skip_space();
      if (!take("\"")) refuse("the text that must not come is expected in quotes behind %raw");
      Expression marker = quoted();
      if (marker.text.empty()) refuse("the text in quotes behind %raw is empty");
      Expression raw = schema("%raw");
      raw.kind = Expression::Kind::raw_schema;
      raw.parts.push_back(std::move(marker));
      return raw;
    }
    if (next_is("<") || next_is("!")) refuse("tokens as parts of a rule are not supported");
    if (next_is("*") || next_is("+") || next_is("?") || next_is("{")) refuse("there is nothing to repeat before this");
    if (!is_name_character(peek())) refuse("this cannot be read");
    Expression reference = Expression::of_kind(Expression::Kind::rule);
    const std::string_view rule_name = name();
    reference.rule = number_of(rule_name);
    return reference;
  }

  // Up to the brace that closes the first one. Whether it is JSON, and a schema, the schema's own reader says.
  Expression schema(const std::string& atom) {
    skip_space();
    if (!next_is("{")) refuse("a schema in braces is expected behind " + atom);
    const std::size_t begin = position_;
    int open = 0;
    bool in_text = false;
    do {
      if (done()) {
        position_ = begin;
        refuse("the schema behind " + atom + " does not end");
      }
      const char c = peek();
      ++position_;
      if (in_text && c == '\\' && !done()) ++position_;
      if (c == '"') in_text = !in_text;
      if (!in_text && (c == '{' || c == '}')) open += c == '{' ? 1 : -1;
    } while (open > 0);
    Expression schema = Expression::of_kind(Expression::Kind::schema);
    schema.text = text_.substr(begin, position_ - begin);
    return schema;
  }

  std::optional<std::pair<std::uint32_t, std::uint32_t>> quantifier() {
    if (take("*")) return {{0, kUnbounded}};
    if (take("+")) return {{1, kUnbounded}};
    if (take("?")) return {{0, 1}};
    if (!take("{")) return std::nullopt;
    skip_space();
    const auto least = number();
    skip_space();
    std::optional<std::uint32_t> most = least;
    if (take(",")) {
      skip_space();
      most = number();
      skip_space();
      if (!most) most = kUnbounded;
    } else if (!least) {
      refuse("a repetition needs a count, as in {2} or {1,3}");
    }
    if (!take("}")) refuse("a repetition has no `}`");
    if (*most < least.value_or(0)) refuse("the counts of a repetition are in the wrong order");
    return {{least.value_or(0), *most}};
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

  Expression quoted() {
    std::string text;
    while (true) {
      if (done() || peek() == '\n') refuse("a text in quotes does not end");
      if (take("\"")) return Expression::of_text(text);
      append_utf8(character(), text);
    }
  }

  char32_t character() {
    if (!take("\\")) {
      return take_character();
    }
    if (done()) refuse("it ends with a backslash");
    const char c = peek();
    ++position_;
    switch (c) {
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      case 'x':
        return hex(2);
      case 'u':
        return hex(4);
      case 'U':
        return hex(8);
      case '\\':
      case '"':
      case '[':
      case ']':
      case '-':
      case '^':
        return static_cast<char32_t>(c);
      default:
        --position_;
        refuse("this escape is not known");
    }
  }

  char32_t hex(int count) {
    char32_t value = 0;
    for (int i = 0; i < count; ++i) {
      const char c = done() ? ' ' : peek();
      const bool upper = c >= 'A' && c <= 'F', lower = c >= 'a' && c <= 'f', digit = c >= '0' && c <= '9';
      if (!upper && !lower && !digit) refuse("an escape needs " + std::to_string(count) + " hexadecimal digits");
      value = value * 16 + static_cast<char32_t>(digit ? c - '0' : lower ? c - 'a' + 10 : c - 'A' + 10);
      ++position_;
    }
    if (value > kLastCodePoint || (value >= 0xD800 && value <= 0xDFFF)) refuse("an escape is no character of Unicode");
    return value;
  }

  CodePointSet characters() {
    const bool negated = take("^");
    std::vector<CodePointRange> ranges;
    while (!take("]")) {
      if (done()) refuse("a `[` has no `]`");
      const char32_t first = character();
      char32_t last = first;
      if (next_is("-") && !next_is("-]")) {
        ++position_;
        if (done()) refuse("a `[` has no `]`");
        last = character();
        if (last < first) refuse("the ends of a range are in the wrong order");
      }
      ranges.push_back({first, last});
    }
    const CodePointSet set(std::move(ranges));
    return negated ? set.complement() : set;
  }

  std::vector<GbnfRule> rules_;
  std::vector<Place> places_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace

std::vector<GbnfRule> parse_gbnf(std::string_view text) {
  return Parser(text).parse();
}

}  // namespace glmhost::constraints
