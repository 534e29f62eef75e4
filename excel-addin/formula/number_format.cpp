// Splits formats into sections and tokens, and picks the section for a value.
#include "excel-addin/formula/number_format.h"

#include <algorithm>
#include <cmath>

#include "excel-addin/formula/coercion.h"
#include "excel-addin/formula/number_text.h"
#include "excel-addin/formula/text_units.h"

namespace glmhost::formula {
namespace {

using Kind = FormatToken::Kind;

class FormatReader {
 public:
  explicit FormatReader(std::string_view format) : format_(format) {}

  std::optional<std::vector<FormatSection>> read() {
    std::vector<FormatSection> sections(1);
    while (at_ < format_.size()) {
      if (format_[at_] == ';') {
        ++at_;
        sections.emplace_back();
        continue;
      }
      if (!token(sections.back())) return std::nullopt;
    }
    constexpr std::size_t kMostSections = 4;
    if (sections.size() > kMostSections) return std::nullopt;
    for (FormatSection& section : sections) {
      if (!finish(section)) return std::nullopt;
    }
    return sections;
  }

 private:
  bool starts_with(std::string_view text) const {
    return format_.size() - at_ >= text.size() && equal_without_case(format_.substr(at_, text.size()), text);
  }

  static void literal(FormatSection& section, std::string_view text) {
    if (!section.tokens.empty() && section.tokens.back().kind == Kind::literal && section.tokens.back().sign != ',')
      section.tokens.back().text += text;
    else
      section.tokens.push_back({Kind::literal, 0, 1, std::string(text)});
  }

  // The character at `at_`, as bytes.
  std::string_view take_character() {
    const std::size_t start = at_;
    if (at_ < format_.size()) next_code_point(format_, at_);
    return format_.substr(start, at_ - start);
  }

  bool token(FormatSection& section) {
    const char c = format_[at_];
    switch (c) {
      case '"': {
        const std::size_t close = std::min(format_.find('"', at_ + 1), format_.size());
        literal(section, format_.substr(at_ + 1, close - at_ - 1));
        at_ = std::min(close + 1, format_.size());
        return true;
      }
      case '\\':
      case '!':
        ++at_;
        literal(section, take_character());
        return true;
      case '_':
        ++at_;
        take_character();
        literal(section, " ");
        return true;
      case '*':
        ++at_;
        take_character();
        return true;
      case '[':
        return bracket(section);
      case '0':
      case '#':
      case '?':
        ++at_;
        section.has_digits = true;
        section.tokens.push_back({Kind::digit, c, 1, {}});
        return true;
      case '@':
        ++at_;
        section.is_text = true;
        section.tokens.push_back({Kind::whole_text, 0, 1, {}});
        return true;
      case '%':
        ++at_;
        ++section.percents;
        section.tokens.push_back({Kind::percent, 0, 1, {}});
        return true;
      case '.':
        return point(section);
      case ',':
        ++at_;
        section.tokens.push_back({Kind::literal, ',', 1, ","});
        return true;
      default:
        return letter(section, c);
    }
  }

  bool point(FormatSection& section) {
    ++at_;
    const bool behind_seconds =
        !section.tokens.empty() &&
        (section.tokens.back().kind == Kind::date || section.tokens.back().kind == Kind::elapsed) &&
        section.tokens.back().sign == 's';
    if (behind_seconds && at_ < format_.size() && format_[at_] == '0') {
      int digits = 0;
      while (at_ < format_.size() && format_[at_] == '0') {
        ++at_;
        ++digits;
      }
      section.tokens.push_back({Kind::second_fraction, 0, digits, {}});
      return true;
    }
    const bool first =
        std::ranges::none_of(section.tokens, [](const FormatToken& each) { return each.kind == Kind::point; });
    if (first)
      section.tokens.push_back({Kind::point, 0, 1, {}});
    else
      literal(section, ".");
    return true;
  }

  bool letter(FormatSection& section, char c) {
    if (starts_with("General")) {
      at_ += 7;
      section.has_general = true;
      section.tokens.push_back({Kind::general, 0, 1, {}});
      return true;
    }
    for (const auto& [spelling, sign] : {std::pair<std::string_view, char>{"AM/PM", 'A'}, {"A/P", 'a'}}) {
      if (!starts_with(spelling)) continue;
      section.is_date = true;
      section.tokens.push_back({Kind::date, sign, 1, std::string(format_.substr(at_, spelling.size()))});
      at_ += spelling.size();
      return true;
    }
    if ((c == 'E' || c == 'e') && at_ + 1 < format_.size() && (format_[at_ + 1] == '+' || format_[at_ + 1] == '-') &&
        section.has_digits) {
      section.tokens.push_back({Kind::exponent, format_[at_ + 1], 1, std::string(1, c)});
      at_ += 2;
      return true;
    }
    const char small = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    if (std::string_view("ymdhs").find(small) != std::string_view::npos) {
      int count = 0;
      while (at_ < format_.size() && (format_[at_] == small || format_[at_] == small - 32)) {
        ++at_;
        ++count;
      }
      section.is_date = true;
      section.tokens.push_back({Kind::date, small, count, {}});
      return true;
    }
    if (c == '/' && section.has_digits) {
      ++at_;
      section.is_fraction = true;
      section.tokens.push_back({Kind::slash, 0, 1, {}});
      return true;
    }
    literal(section, take_character());
    return true;
  }

  // [Red], [$€-407], [h], [>=100]
  bool bracket(FormatSection& section) {
    const std::size_t close = format_.find(']', at_);
    if (close == std::string_view::npos) return false;
    const std::string inside = lower(format_.substr(at_ + 1, close - at_ - 1));
    at_ = close + 1;
    if (inside.empty()) return false;
    if (std::string_view("hms").find(inside[0]) != std::string_view::npos &&
        inside.find_first_not_of(inside[0]) == std::string::npos) {
      section.is_date = true;
      section.tokens.push_back({Kind::elapsed, inside[0], static_cast<int>(inside.size()), {}});
      return true;
    }
    if (inside[0] == '$') {
      literal(section, std::string_view(inside).substr(
                           1, inside.find('-') == std::string::npos ? std::string::npos : inside.find('-') - 1));
      return true;
    }
    if (inside[0] == '<' || inside[0] == '>' || inside[0] == '=') {
      const std::size_t digits = inside.find_first_not_of("<>=");
      const auto limit = digits == std::string::npos ? std::nullopt : plain_text_to_number(inside.substr(digits));
      if (!limit) return false;
      section.condition = {inside.substr(0, digits), *limit};
      return true;
    }
    return true;  // a color, a calendar, a set of digits
  }

  // What can be told only when the section has been read.
  static bool finish(FormatSection& section) {
    if (section.is_date) {
      const bool mixed = std::ranges::any_of(section.tokens, [](const FormatToken& each) {
        return each.kind == Kind::digit || each.kind == Kind::exponent || each.kind == Kind::whole_text ||
               each.kind == Kind::percent || each.kind == Kind::general;
      });
      if (mixed) return false;
      find_minutes(section);
      return true;
    }
    if (section.is_text && section.has_digits) return false;
    find_commas(section);
    return true;
  }

  // m is minutes behind h and in front of s.
  static void find_minutes(FormatSection& section) {
    FormatToken* last = nullptr;
    for (FormatToken& token : section.tokens) {
      if (token.kind != Kind::date && token.kind != Kind::elapsed) continue;
      if (token.sign == 'A' || token.sign == 'a') continue;
      const bool is_month = token.kind == Kind::date && token.sign == 'm' && token.count <= 2;
      if (is_month && last != nullptr && last->sign == 'h') token.sign = 'n';
      if (token.sign == 's' && last != nullptr && last->kind == Kind::date && last->sign == 'm' && last->count <= 2)
        last->sign = 'n';
      last = &token;
    }
  }

  // Commas between digits group; those right behind the last digit of the whole part, or of all, divide by thousands;
  // those behind a literal are literals.
  static void find_commas(FormatSection& section) {
    auto& tokens = section.tokens;
    const auto is_digit = [&](std::size_t i) { return i < tokens.size() && tokens[i].kind == Kind::digit; };
    const auto is_comma = [&](std::size_t i) {
      return i < tokens.size() && tokens[i].kind == Kind::literal && tokens[i].sign == ',';
    };
    std::size_t end = 0;  // behind the whole part
    while (end < tokens.size() && tokens[end].kind != Kind::point && tokens[end].kind != Kind::exponent) ++end;
    std::size_t last_digit = end;
    for (std::size_t i = 0; i < end; ++i) {
      if (is_digit(i)) last_digit = i;
    }
    std::size_t last_of_all = tokens.size();
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (is_digit(i)) last_of_all = i;
    }
    std::vector<FormatToken> kept;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (!is_comma(i)) {
        kept.push_back(tokens[i]);
        continue;
      }
      std::size_t before = i;
      while (before > 0 && is_comma(before)) --before;
      if (!is_digit(before)) {
        kept.push_back(tokens[i]);
      } else if ((before == last_digit && i < end) || before == last_of_all) {
        ++section.scale;
      } else if (i < end) {
        section.groups = true;
      }
    }
    tokens = std::move(kept);
  }

  std::string_view format_;
  std::size_t at_ = 0;
};

std::string text_through(const FormatSection& section, const std::string& text) {
  std::string result;
  for (const FormatToken& token : section.tokens) {
    if (token.kind == Kind::whole_text)
      result += text;
    else
      result += token.text;
  }
  return result;
}

struct Choice {
  const FormatSection* section;
  bool signs_itself;  // a minus is written in front
};

Choice section_for(const std::vector<FormatSection>& sections, std::size_t count, double number) {
  const bool conditional =
      std::ranges::any_of(sections, [](const FormatSection& each) { return each.condition.has_value(); });
  if (conditional) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto& condition = sections[i].condition;
      if (condition && condition->holds(number))
        return {&sections[i], number < 0 && condition->op.find('<') == std::string::npos};
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (!sections[i].condition) return {&sections[i], number < 0};
    }
    return {nullptr, false};
  }
  if (number < 0) return count > 1 ? Choice{&sections[1], false} : Choice{&sections[0], true};
  return {&sections[number == 0 && count > 2 ? 2 : 0], false};
}

Value number_through(const std::vector<FormatSection>& sections, double number) {
  // A last section with @ is for texts.
  std::size_t count = std::min<std::size_t>(sections.size(), 3);
  if (sections.size() == 4 || (sections.size() > 1 && sections[count - 1].is_text))
    count = std::min(count, sections.size() - 1);
  const Choice choice = section_for(sections, count, number);
  if (choice.section == nullptr) return ErrorCode::value;
  const FormatSection& section = *choice.section;
  if (section.is_text) return text_through(section, number_to_text(number));
  if (section.is_date) {
    const auto text = format_date(section, choice.signs_itself ? number : std::abs(number));
    return text ? Value(*text) : Value(ErrorCode::value);
  }
  const NumberText text = format_number(section, std::abs(number));
  return (choice.signs_itself && !text.is_zero ? "-" : "") + text.text;
}

}  // namespace

bool FormatSection::Condition::holds(double number) const {
  if (op == "<") return number < limit;
  if (op == "<=") return number <= limit;
  if (op == ">") return number > limit;
  if (op == ">=") return number >= limit;
  if (op == "<>") return number != limit;
  return number == limit;
}

std::optional<std::vector<FormatSection>> parse_format(std::string_view format) {
  return FormatReader(format).read();
}

Value formatted(const Value& any, std::string_view format) {
  const Value& value = any.scalar();
  if (value.is_error()) return value;
  if (value.is_boolean()) return *to_text(value);
  if (format.empty()) return "";
  const auto sections = parse_format(format);
  if (!sections) return ErrorCode::value;
  // Text belongs into the last section.
  for (std::size_t i = 0; i + 1 < sections->size(); ++i) {
    if ((*sections)[i].is_text) return ErrorCode::value;
  }
  if (!value.is_text()) return number_through(*sections, *to_number(value));
  if (const auto number = text_to_number(value.text())) return number_through(*sections, number->number());
  const FormatSection& last = sections->back();
  if (sections->size() == 4 || last.is_text) return text_through(last, value.text());
  return value;
}

}  // namespace glmhost::formula
