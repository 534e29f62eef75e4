#include "tests/e2e/excel_host/formula.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace excel_host {
namespace {

using namespace glmhost::xll;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Term whole() {
    Term term = joined();
    skip_spaces();
    if (at_ < text_.size()) fail("it does not end");
    return term;
  }

  Term reference_alone() {
    std::optional<Term> term = reference();
    if (!term || at_ < text_.size()) fail("it is no cell or range");
    return *term;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Failure{"`" + std::string(text_) + "` cannot be read at character " + std::to_string(at_ + 1) + ": " + why +
                  "."};
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    skip_spaces();
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void skip_spaces() {
    while (peek() == ' ') ++at_;
  }

  Term joined() {
    Term left = term();
    while (take('&')) {
      Term both;
      both.kind = Term::Kind::joined;
      both.arguments.push_back(std::move(left));
      both.arguments.push_back(term());
      left = std::move(both);
    }
    return left;
  }

  Term term() {
    skip_spaces();
    const char c = peek();
    Term literal;
    literal.kind = Term::Kind::literal;
    if (c == '"') {
      literal.value = to_utf16(quoted());
      return literal;
    }
    if (c == '#') {
      for (std::size_t length = text_.size() - at_; length > 1; --length) {
        const std::int32_t code = error_named(text_.substr(at_, length));
        if (code < 0) continue;
        at_ += length;
        literal.value = CellError{code};
        return literal;
      }
      fail("there is no such error");
    }
    if (c == '(') return union_of_areas();
    if (std::optional<Term> found = reference()) return *found;
    if (std::isdigit(static_cast<unsigned char>(c)) || c == '-' || c == '.') {
      double number = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
      if (error != std::errc()) fail("this is no number");
      at_ = static_cast<std::size_t>(end - text_.data());
      literal.value = number;
      return literal;
    }
    return call_or_boolean();
  }

  std::string quoted() {
    std::string text;
    for (++at_;; ++at_) {
      if (at_ >= text_.size()) fail("a quote is missing");
      if (text_[at_] == '"') {
        ++at_;
        if (peek() != '"') return text;
      }
      text += text_[at_];
    }
  }

  Term union_of_areas() {
    take('(');
    Term all;
    all.kind = Term::Kind::reference;
    do {
      skip_spaces();
      std::optional<Term> one = reference();
      if (!one || one->kind != Term::Kind::reference) fail("only areas stand in parentheses here");
      if (one->sheet >= 0) all.sheet = one->sheet;
      all.areas.insert(all.areas.end(), one->areas.begin(), one->areas.end());
    } while (take(','));
    if (!take(')')) fail("a parenthesis is missing");
    return all;
  }

  Term call_or_boolean() {
    std::string name;
    while (std::isalnum(static_cast<unsigned char>(peek())) || peek() == '.' || peek() == '_') {
      name += static_cast<char>(std::toupper(static_cast<unsigned char>(text_[at_++])));
    }
    if (name.empty()) fail("something is missing");
    Term term;
    if (peek() != '(') {
      if (name != "TRUE" && name != "FALSE") fail("there is no such name");
      term.kind = Term::Kind::literal;
      term.value = name == "TRUE";
      return term;
    }
    ++at_;
    term.kind = Term::Kind::call;
    term.name = name;
    if (take(')')) return term;
    do {
      skip_spaces();
      if (peek() == ',' || peek() == ')') {
        term.arguments.emplace_back();
      } else {
        term.arguments.push_back(joined());
      }
    } while (take(','));
    if (!take(')')) fail("a parenthesis is missing");
    return term;
  }

  // Sheet2!A1:B3 and so on; nothing is consumed when there is none.
  std::optional<Term> reference() {
    const std::size_t begin = at_;
    Term term;
    term.kind = Term::Kind::reference;
    if (const std::optional<int> sheet = sheet_name()) {
      term.sheet = *sheet;
      if (peek() == ':') {
        ++at_;
        if (sheet_name()) term.kind = Term::Kind::several_sheets;
      }
      if (peek() != '!') fail("a sheet's name is followed by `!`");
      ++at_;
    }
    Term::Area area;
    std::optional<std::int32_t> column, row;
    if (!part(area.first, column, row)) {
      at_ = begin;
      return std::nullopt;
    }
    const bool has_column = column.has_value();
    const bool has_row = row.has_value();
    if (peek() == ':') {
      ++at_;
      std::optional<std::int32_t> last_column, last_row;
      if (!part(area.last, last_column, last_row) || last_column.has_value() != has_column ||
          last_row.has_value() != has_row) {
        at_ = begin;
        return std::nullopt;
      }
    } else {
      area.last = area.first;
    }
    const bool is_cell = has_column && has_row;
    const bool has_range = text_.substr(begin, at_ - begin).find(':') != std::string_view::npos;
    const char next = peek();
    if ((!is_cell && !has_range) || std::isalnum(static_cast<unsigned char>(next)) || next == '(' || next == '.' ||
        next == '_') {
      at_ = begin;
      return std::nullopt;
    }
    if (!has_row) {
      area.whole_columns = true;
      area.first.row = 0;
      area.last.row = kMostRows - 1;
    }
    if (!has_column) {
      area.whole_rows = true;
      area.first.column = 0;
      area.last.column = kMostColumns - 1;
    }
    term.areas.push_back(area);
    return term;
  }

  std::optional<int> sheet_name() {
    if (text_.substr(at_, 5) != "Sheet") return std::nullopt;
    const std::size_t begin = at_;
    at_ += 5;
    int number = 0;
    while (std::isdigit(static_cast<unsigned char>(peek()))) number = number * 10 + (text_[at_++] - '0');
    if (number < 1) {
      at_ = begin;
      return std::nullopt;
    }
    return number - 1;
  }

  bool part(Corner& corner, std::optional<std::int32_t>& column, std::optional<std::int32_t>& row) {
    bool fixed = peek() == '$';
    if (fixed) ++at_;
    std::int32_t letters = 0;
    std::size_t count = 0;
    while (std::isalpha(static_cast<unsigned char>(peek())) && count < 3) {
      letters = letters * 26 + (std::toupper(static_cast<unsigned char>(text_[at_++])) - 'A' + 1);
      ++count;
    }
    if (count > 0) {
      if (letters > kMostColumns) return false;
      column = corner.column = letters - 1;
      corner.column_fixed = fixed;
      fixed = peek() == '$';
      if (fixed) ++at_;
    }
    std::int64_t number = 0;
    count = 0;
    while (std::isdigit(static_cast<unsigned char>(peek())) && count < 7) {
      number = number * 10 + (text_[at_++] - '0');
      ++count;
    }
    if (count > 0) {
      if (number < 1 || number > kMostRows) return false;
      row = corner.row = static_cast<std::int32_t>(number - 1);
      corner.row_fixed = fixed;
    }
    return column || row;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

void each_term(Term& term, const std::function<void(Term&)>& change) {
  change(term);
  for (Term& argument : term.arguments) each_term(argument, change);
}

}  // namespace

Term parse_formula(std::string_view text) {
  return Parser(text).whole();
}

std::string formula_text(const Term& term) {
  std::string text;
  const auto listed = [&](std::string_view between) {
    for (std::size_t i = 0; i < term.arguments.size(); ++i) {
      if (i > 0) text += between;
      text += formula_text(term.arguments[i]);
    }
  };
  switch (term.kind) {
    case Term::Kind::omitted:
      break;
    case Term::Kind::literal: {
      const auto* words = std::get_if<std::u16string>(&term.value);
      text = words == nullptr ? show(term.value) : "\"";
      for (const char c : words == nullptr ? std::string() : to_utf8(*words))
        text += c == '"' ? "\"\"" : std::string(1, c);
      if (words != nullptr) text += '"';
      break;
    }
    case Term::Kind::several_sheets:
      text = "Sheet1:Sheet2!A1";
      break;
    case Term::Kind::joined:
      listed("&");
      break;
    case Term::Kind::call:
      text = term.name + "(";
      listed(",");
      text += ")";
      break;
    case Term::Kind::reference:
      if (term.broken) return "#REF!";
      for (const Term::Area& area : term.areas) {
        const auto corner = [&](const Corner& at) {
          const std::string letters = show(Place{0, 0, at.column});
          return (area.whole_rows ? "" : (at.column_fixed ? "$" : "") + letters.substr(0, letters.size() - 1)) +
                 (area.whole_columns ? "" : (at.row_fixed ? "$" : "") + std::to_string(at.row + 1));
        };
        if (!text.empty()) text += ",";
        if (term.sheet >= 0) text += "Sheet" + std::to_string(term.sheet + 1) + "!";
        text += corner(area.first) + ":" + corner(area.last);
      }
      if (term.areas.size() > 1) text = "(" + text + ")";
      break;
  }
  return text;
}

Range parse_range(std::string_view text) {
  const Term term = Parser(text).reference_alone();
  return range_of(term, term.areas.at(0), 0);
}

Range range_of(const Term& reference, const Term::Area& area, int own_sheet) {
  const auto [first_row, last_row] = std::minmax(area.first.row, area.last.row);
  const auto [first_column, last_column] = std::minmax(area.first.column, area.last.column);
  return {reference.sheet < 0 ? own_sheet : reference.sheet, {first_row, last_row, first_column, last_column}};
}

void move_formula(Term& term, std::int32_t rows, std::int32_t columns) {
  each_term(term, [&](Term& each) {
    for (Term::Area& area : each.areas) {
      for (Corner* corner : {&area.first, &area.last}) {
        if (!corner->row_fixed && !area.whole_columns) corner->row += rows;
        if (!corner->column_fixed && !area.whole_rows) corner->column += columns;
        if (corner->row < 0 || corner->row >= kMostRows || corner->column < 0 || corner->column >= kMostColumns) {
          each.broken = true;
        }
      }
    }
  });
}

void shift_rows(Term& term, int own_sheet, int sheet, std::int32_t row, std::int32_t count) {
  each_term(term, [&](Term& each) {
    if ((each.sheet < 0 ? own_sheet : each.sheet) != sheet) return;
    for (Term::Area& area : each.areas) {
      if (area.whole_columns) continue;
      if (count < 0 && area.first.row == row && area.last.row == row) each.broken = true;
      if (area.first.row > row || (count > 0 && area.first.row == row)) area.first.row += count;
      if (area.last.row >= row) area.last.row += count;
    }
  });
}

void for_each_reference(const Term& term, const std::function<void(const Term&)>& see) {
  if (term.kind == Term::Kind::reference) see(term);
  for (const Term& argument : term.arguments) for_each_reference(argument, see);
}

}  // namespace excel_host
