// Pipelines as text again: the formatter, and what `explain` says.
#include <algorithm>

#include "excel-addin/formula/lexer.h"
#include "excel-addin/formula/parser.h"
#include "excel-addin/formula/text_units.h"
#include "excel-addin/table/pipeline.h"

namespace glmhost::table {
namespace {

using formula::Token;
using formula::TokenKind;

bool is_one_of(const Token& token, std::initializer_list<std::string_view> symbols) {
  return std::ranges::any_of(symbols, [&](std::string_view symbol) { return token.is(symbol); });
}

// Is a sign that stands behind `before` the sign of a value, not an operator between two?
bool begins_value(const Token* before) {
  if (before == nullptr || before->kind == TokenKind::symbol)
    return before == nullptr || !is_one_of(*before, {")", "]", "}", "%"});
  if (before->kind != TokenKind::identifier) return false;
  constexpr std::string_view kWords[] = {"sort", "by", "and",   "or",   "not",  "in",     "filter",
                                         "rows", "to", "where", "take", "skip", "assert", "range"};
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return formula::equal_without_case(before->spelling, word); });
}

class Formatter {
 public:
  explicit Formatter(std::string_view source) : source_(source) {}

  std::string run() {
    const formula::ParseOptions options = formula::ParseOptions::table_language();
    std::size_t at = 0;
    bool line_end = false;
    while (true) {
      formula::Lexer lexer(source_, at, options);
      const Token token = lexer.next();
      if (token.kind == TokenKind::end) {
        if (token.span.offset >= source_.size()) break;
        line_end = true;
        at = token.span.offset + 1;
        continue;
      }
      add(token, std::exchange(line_end, false));
      at = token.span.offset + token.span.length;
    }
    return out_ + "\n";
  }

 private:
  void add(const Token& token, bool behind_line_end) {
    // In parentheses of an expression a line end is a blank; in those of a pipeline it divides stages, as | does.
    const bool in_pipeline = open_.empty() || open_.back();
    const bool divides = token.is("|") || (behind_line_end && in_pipeline && !at_begin_);
    if (divides && in_pipeline) {
      const std::string indent(2 * open_.size(), ' ');
      if (!at_begin_) out_ += "\n" + indent + "| ";
      at_begin_ = true;
      before_ = nullptr;
      if (token.is("|")) return;
    }
    const bool sign = is_one_of(token, {"-", "+"}) && begins_value(at_begin_ ? nullptr : before_);
    const bool touching = token.span.offset == last_end_;
    bool blank = !at_begin_ && before_ != nullptr;
    if (is_one_of(token, {",", ")", "}", ";", "%"})) blank = false;
    if (before_ != nullptr && (is_one_of(*before_, {"(", "{"}) || after_sign_)) blank = false;
    if (token.is("(") && touching && before_ != nullptr && before_->kind == TokenKind::identifier) blank = false;
    if (blank) out_ += ' ';
    out_ += source_.substr(token.span.offset, token.span.length);
    if (token.is("(")) {
      formula::Lexer lexer(source_, token.span.offset + 1, kLines);
      Token first = lexer.next();
      while (first.kind == TokenKind::end && first.span.offset < source_.size())
        first = formula::Lexer(source_, first.span.offset + 1, kLines).next();
      const bool call = touching && before_ != nullptr && before_->kind == TokenKind::identifier && !blank;
      const bool stage =
          first.kind == TokenKind::identifier && std::ranges::any_of(stage_words(), [&](std::string_view word) {
            return formula::equal_without_case(word, first.spelling);
          });
      const bool place = before_ != nullptr && (before_->kind == TokenKind::identifier || before_->is("="));
      open_.push_back(!call && stage && place && holds_pipeline(token.span.offset));
    }
    if (token.is(")") && !open_.empty()) open_.pop_back();
    at_begin_ = token.is("(") && open_.back();
    after_sign_ = sign;
    last_ = token;
    before_ = &last_;
    last_end_ = token.span.offset + token.span.length;
  }

  // Only a pipeline parses as one: `(sort + 1)` is no pipeline.
  bool holds_pipeline(std::size_t open) const {
    int depth = 0;
    std::size_t at = open;
    while (at < source_.size()) {
      formula::Lexer lexer(source_, at, kLines);
      const Token token = lexer.next();
      if (token.kind == TokenKind::end && token.span.offset >= source_.size()) return false;
      if (token.is("(")) ++depth;
      if (token.is(")") && --depth == 0) {
        try {
          parse_pipeline(source_.substr(open + 1, token.span.offset - open - 1));
          return true;
        } catch (const formula::SyntaxError&) {
          return false;
        }
      }
      at = token.span.offset + std::max<std::size_t>(token.span.length, 1);
    }
    return false;
  }

  static inline const formula::ParseOptions kLines = formula::ParseOptions::table_language();
  std::string_view source_;
  std::string out_;
  std::vector<bool> open_;  // parentheses; true: a pipeline stands inside
  Token last_;
  const Token* before_ = nullptr;
  std::size_t last_end_ = static_cast<std::size_t>(-1);
  bool at_begin_ = true, after_sign_ = false;
};

// One line about each stage.
class Explainer {
 public:
  Explainer(std::string_view source, std::string& out) : source_(source), out_(out) {}

  void run(const Pipeline& pipeline, std::size_t depth) {
    std::size_t number = 0;
    for (const Stage& stage : pipeline.stages) {
      out_ += std::string(2 * depth, ' ') + std::to_string(++number) + ". ";
      std::visit([&](const auto& content) { explain(content, depth); }, stage.content);
    }
  }

 private:
  std::string text(SourceSpan span) const { return std::string(source_.substr(span.offset, span.length)); }
  template <class Each, class Text>
  static std::string listed(const std::vector<Each>& all, const Text& text_of) {
    std::string list;
    for (const Each& each : all) list += (list.empty() ? "" : ", ") + text_of(each);
    return list;
  }
  std::string names(const std::vector<ColumnName>& all) const {
    return listed(all, [&](const ColumnName& name) { return text(name.span); });
  }
  std::string assigned(const std::vector<Assignment>& all) const {
    return listed(all, [&](const Assignment& each) {
      return each.named ? each.name + " = " + text(each.value.span) : text(each.value.span);
    });
  }
  std::string sorted(const std::vector<SortKey>& all) const {
    return listed(all,
                  [&](const SortKey& key) { return text(key.value.span) + (key.descending ? " descending" : ""); });
  }
  std::string picks(const std::vector<Pick>& all) const {
    return listed(all, [&](const Pick& pick) {
      const auto* assignment = std::get_if<Assignment>(&pick.what);
      return assignment != nullptr ? assigned({*assignment}) : text(pick.span);
    });
  }
  static std::string amount(const Amount& amount) {
    std::string number = std::to_string(amount.count);
    number.erase(number.find_last_not_of('0') + 1);
    if (number.ends_with('.')) number.pop_back();
    return number + (amount.percent ? "%" : "") + " of the rows";
  }
  void line(const std::string& sentence) { out_ += sentence + "\n"; }
  void source(const std::string& sentence, const Source& from, std::size_t depth) {
    line(sentence + (from.pipeline ? " the table of" : " `" + from.name + "`"));
    if (from.pipeline) run(*from.pipeline, depth + 2);
  }

  void explain(const From& stage, std::size_t depth) { source("from: open", stage.source, depth); }
  void explain(const Select& stage, std::size_t) {
    line((stage.exclude ? "select: drop " : "select: keep ") + picks(stage.picks));
  }
  void explain(const Rename& stage, std::size_t) {
    line("rename: " +
         listed(stage.names, [&](const auto& each) { return text(each.second.span) + " to " + each.first; }));
  }
  void explain(const Derive& stage, std::size_t) { line("derive: compute " + assigned(stage.columns)); }
  void explain(const Filter& stage, std::size_t) { line("filter: keep rows where " + text(stage.condition.span)); }
  void explain(const Sort& stage, std::size_t) {
    line("sort: by " + sorted(stage.keys) + "; columns are gathered when first read");
  }
  void explain(const Limit& stage, std::size_t) {
    line((stage.skip ? "skip: leave out the first " : "take: keep the first ") + amount(stage.amount) +
         (stage.per.empty() ? "" : " per " + names(stage.per)) + (stage.by.empty() ? "" : " by " + sorted(stage.by)));
  }
  void explain(const Sample& stage, std::size_t) {
    line("sample: " + amount(stage.amount) + ", seed " + std::to_string(stage.seed));
  }
  void explain(const Distinct& stage, std::size_t) {
    line("distinct: the first row of each " + (stage.columns.empty() ? "row" : names(stage.columns)));
  }
  void explain(const Group& stage, std::size_t) {
    constexpr const char* kTotals[] = {"", ", with a total", ", with totals of the first keys (rollup)",
                                       ", with totals of all subsets of keys (cube)"};
    line("group: " + (stage.keys.empty() ? "all rows" : "by " + assigned(stage.keys)) +
         (stage.aggregates.empty() ? "" : "; compute " + assigned(stage.aggregates)) +
         kTotals[static_cast<int>(stage.totals)]);
  }
  void explain(const Join& stage, std::size_t depth) {
    constexpr const char* kKinds[] = {"inner", "left", "right", "full", "semi", "anti", "cross"};
    constexpr const char* kMatches[] = {"", ", the nearest partner alone", ", the partner most alike"};
    constexpr const char* kCompares[] = {" = ", " <> ", " < ", " <= ", " > ", " >= "};
    const std::string on = stage.keys.empty() ? "" : " on " + listed(stage.keys, [&](const JoinKey& key) {
                                                       return text(key.left.span) +
                                                              kCompares[static_cast<int>(key.compare)] +
                                                              text(key.right.span);
                                                     });
    source("join: " + std::string(kKinds[static_cast<int>(stage.kind)]) + on + kMatches[static_cast<int>(stage.match)] +
               ", with",
           stage.right, depth);
  }
  void explain(const SetOperation& stage, std::size_t depth) {
    constexpr const char* kKinds[] = {"append: the rows of", "union: different rows of this and of",
                                      "intersect: rows that are also in", "except: rows that are not in"};
    source(kKinds[static_cast<int>(stage.kind)], stage.other, depth);
  }
  void explain(const Window& stage, std::size_t) {
    line("window: " + (stage.per.empty() ? "" : "per " + names(stage.per) + ", ") +
         (stage.sort.empty() ? "" : "by " + sorted(stage.sort) + ", ") + "compute " + assigned(stage.columns));
  }
  void explain(const Pivot& stage, std::size_t) {
    line(std::string(stage.totals ? "pivot: with totals, " : "pivot: ") + "a row for each " + assigned(stage.keys) +
         ", a column for each " + text(stage.by.span) + ", cells " + assigned({stage.aggregate}));
  }
  void explain(const Unpivot& stage, std::size_t) {
    line("unpivot: " + std::string(stage.exclude ? "all columns but " : "") + picks(stage.picks) + " into " +
         stage.name_column + ", " + stage.value_column);
  }
  void explain(const Fill& stage, std::size_t) {
    constexpr const char* kModes[] = {" from above", " from below", " with a value", " on a line"};
    line("fill: empty cells of " + names(stage.columns) + kModes[static_cast<int>(stage.mode)]);
  }
  void explain(const Split& stage, std::size_t) {
    constexpr const char* kInto[] = {" into rows", " into columns", " into "};
    line("split: " + text(stage.column.span) + (stage.regex ? " where it matches \"" : " at \"") + stage.delimiter +
         "\"" + kInto[static_cast<int>(stage.into)] +
         listed(stage.names, [](const std::string& name) { return name; }));
  }
  void explain(const CombineColumns& stage, std::size_t) {
    line("combine: " + names(stage.columns) + " into " + stage.name + ", with \"" + stage.delimiter + "\" between");
  }
  void explain(const Complete& stage, std::size_t) {
    line("complete: add the missing combinations of " +
         listed(stage.keys,
                [&](const CompleteKey& key) {
                  return text(key.column.span) + (key.every ? " (and the values between)" : "");
                }) +
         (stage.per.empty() ? "" : ", per " + names(stage.per)));
  }
  void explain(const Describe&, std::size_t) { line("describe: a row about each column"); }
  void explain(const Assert& stage, std::size_t) {
    line("assert: stop unless all rows have " + text(stage.condition.span));
  }
  void explain(const Let& stage, std::size_t depth) {
    if (const auto* expression = std::get_if<Expression>(&stage.value))
      return line("let: " + stage.name + " is " + text(expression->span));
    line("let: " + stage.name + " is the table of");
    run(*std::get<std::shared_ptr<const Pipeline>>(stage.value), depth + 2);
  }

  std::string_view source_;
  std::string& out_;
};

}  // namespace

std::string formatted_pipeline(std::string_view source) {
  parse_pipeline(source);
  return Formatter(source).run();
}

std::string explained(const Pipeline& pipeline, std::string_view source) {
  std::string out;
  Explainer(source, out).run(pipeline, 0);
  return out;
}

}  // namespace glmhost::table
