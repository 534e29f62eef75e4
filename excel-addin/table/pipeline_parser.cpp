#include <algorithm>
#include <charconv>
#include <cmath>

#include "excel-addin/formula/lexer.h"
#include "excel-addin/formula/parser.h"
#include "excel-addin/formula/text_units.h"
#include "excel-addin/table/pipeline.h"
#include "excel-addin/table/table_functions.h"

namespace glmhost::table {
namespace {

using formula::SyntaxError;
using formula::Token;
using formula::TokenKind;

constexpr int kMostPipelineNesting = 32;

// Words of the language that no stage has yet.
constexpr std::string_view kNotYet[] = {"split", "combine", "complete"};
constexpr std::string_view kJoinsNotYet[] = {"asof", "fuzzy"};

std::string found(const Token& token, std::string_view source) {
  if (token.kind != TokenKind::end) return "there is `" + formula::valid_utf8(token.spelling.substr(0, 40)) + "`";
  return token.span.offset < source.size() ? "the line ends here" : "the pipeline ends here";
}

class StageParser {
 public:
  explicit StageParser(std::string_view source) : source_(source) {
    if (source.size() > formula::kMostSource) throw SyntaxError("The pipeline is longer than 1 MiB.", 0, 1);
    line_options_.own_functions = inside_options_.own_functions = table_functions();
    inside_options_.line_ends_it = false;
    move_to(0);
  }

  Pipeline whole() {
    Pipeline result = pipeline();
    if (token_.kind != TokenKind::end || token_.span.offset < source_.size()) unexpected("a stage");
    if (result.stages.empty()) fail_here("The pipeline is empty. Give a stage, such as `take 10`.");
    return result;
  }

 private:
  // --- tokens

  const formula::ParseOptions& options() const { return inside_ > 0 ? inside_options_ : line_options_; }

  void move_to(std::size_t offset) {
    formula::Lexer lexer(source_, offset, options());
    token_ = lexer.next();
  }
  void advance() { move_to(token_.span.offset + token_.span.length); }
  std::size_t token_end() const { return token_.span.offset + token_.span.length; }
  Token behind() const {
    formula::Lexer lexer(source_, token_end(), options());
    return lexer.next();
  }

  bool at_line_end() const { return token_.kind == TokenKind::end; }
  bool is_word(std::string_view word) const {
    return token_.kind == TokenKind::identifier && formula::equal_without_case(token_.spelling, word);
  }
  bool accept_word(std::string_view word) {
    if (!is_word(word)) return false;
    advance();
    return true;
  }
  bool accept(std::string_view symbol) {
    if (!token_.is(symbol)) return false;
    advance();
    return true;
  }
  void expect_word(std::string_view word) {
    if (!accept_word(word)) unexpected("`" + std::string(word) + "`");
  }

  void open() {
    if (!token_.is("(")) unexpected("`(`");
    ++inside_;
    advance();
  }
  void close() {
    if (!token_.is(")")) unexpected("`,` or `)`");
    --inside_;
    advance();
  }

  [[noreturn]] void fail_here(const std::string& sentence, std::string suggestion = {}) const {
    throw SyntaxError(sentence, token_.span.offset, std::max<std::size_t>(token_.span.length, 1),
                      std::move(suggestion));
  }
  [[noreturn]] void unexpected(const std::string& wanted) const {
    fail_here("Expected " + wanted + ", but " + found(token_, source_) + ".");
  }

  // --- pieces

  Expression expression() {
    const std::size_t begin = token_.span.offset;
    auto parsed = formula::parse_prefix(source_, begin, options());
    move_to(parsed.end);
    std::size_t end = parsed.end;
    while (end > begin && (source_[end - 1] == ' ' || source_[end - 1] == '\n' || source_[end - 1] == '\t' ||
                           source_[end - 1] == '\r'))
      --end;
    return {std::move(parsed.tree), {begin, end - begin}};
  }

  ColumnName column() {
    ColumnName result;
    result.span = token_.span;
    switch (token_.kind) {
      case TokenKind::identifier:
        result.name = {std::string(token_.spelling), formula::NameKind::plain};
        break;
      case TokenKind::bracketed:
        result.name = {token_.text, formula::NameKind::bracketed};
        break;
      case TokenKind::position:
        result.name = {std::string(token_.spelling.substr(1)), formula::NameKind::position};
        break;
      default:
        unexpected("a column, such as amount, [Order Date] or #3");
    }
    advance();
    return result;
  }

  std::vector<ColumnName> columns() {
    std::vector<ColumnName> result = {column()};
    while (accept(",")) result.push_back(column());
    return result;
  }

  std::string new_name() {
    if (token_.kind != TokenKind::identifier && token_.kind != TokenKind::bracketed)
      unexpected("a name for the column");
    std::string name = token_.kind == TokenKind::bracketed ? token_.text : std::string(token_.spelling);
    advance();
    return name;
  }

  bool at_assignment() const {
    return (token_.kind == TokenKind::identifier || token_.kind == TokenKind::bracketed) && behind().is("=");
  }

  Assignment assignment(bool must_be_named) {
    Assignment result;
    result.name_span = token_.span;
    if (at_assignment()) {
      result.named = true;
      result.name = new_name();
      accept("=");
    } else if (must_be_named) {
      unexpected("a name and `=`, such as total = price * count");
    }
    result.value = expression();
    if (!result.named) {
      const auto& root = result.value.tree[result.value.tree.root()].content;
      const auto* name = std::get_if<formula::Name>(&root);
      const SourceSpan span = result.value.span;
      result.name = name != nullptr && name->kind != formula::NameKind::position
                        ? name->text
                        : std::string(source_.substr(span.offset, span.length));
    }
    return result;
  }

  std::vector<Assignment> assignments(bool must_be_named) {
    std::vector<Assignment> result = {assignment(must_be_named)};
    while (accept(",")) result.push_back(assignment(must_be_named));
    return result;
  }

  std::vector<Pick> picks(bool may_compute) {
    std::vector<Pick> result;
    do {
      Pick pick;
      pick.span = token_.span;
      if (token_.kind == TokenKind::text) {
        pick.what = token_.text;
        advance();
      } else if (may_compute && at_assignment()) {
        pick.what = assignment(true);
      } else {
        pick.what = column();
      }
      result.push_back(std::move(pick));
    } while (accept(","));
    return result;
  }

  std::vector<SortKey> sort_keys() {
    std::vector<SortKey> keys;
    do {
      SortKey key;
      if (token_.is("-") || token_.is("+")) {
        key.descending = token_.is("-");
        advance();
      }
      key.value = expression();
      if (accept_word("desc")) {
        key.descending = true;
      } else {
        accept_word("asc");
      }
      keys.push_back(std::move(key));
    } while (accept(","));
    return keys;
  }

  double number(const std::string& what) {
    if (token_.kind != TokenKind::number) unexpected(what);
    const double result = token_.number;
    advance();
    return result;
  }

  Amount amount(const std::string& stage) {
    const Token start = token_;
    Amount result;
    result.count = number("a number of rows, such as `" + stage + " 10` or `" + stage + " 5%`");
    result.percent = accept("%");
    const bool right = result.percent ? result.count <= 100 : result.count == std::floor(result.count);
    if (!right) {
      throw SyntaxError(result.percent ? "A part of the rows is at most 100%." : "A number of rows is a whole number.",
                        start.span.offset, start.span.length);
    }
    return result;
  }

  Source source() {
    Source result;
    result.span = token_.span;
    if (token_.is("(")) {
      if (++nesting_ > kMostPipelineNesting) fail_here("Pipelines are nested more than 32 levels deep.");
      advance();
      const int inside = std::exchange(inside_, 0);  // line ends divide stages again
      skip_line_ends();
      result.pipeline = std::make_shared<const Pipeline>(pipeline());
      if (!token_.is(")")) unexpected("`|` or `)`");
      inside_ = inside;
      advance();
      --nesting_;
      return result;
    }
    if (token_.kind == TokenKind::text || token_.kind == TokenKind::bracketed) {
      result.name = token_.text;
    } else if (token_.kind == TokenKind::identifier) {
      result.name = std::string(token_.spelling);
    } else {
      unexpected("a table: a name, a file in quotes, or a pipeline in parentheses");
    }
    advance();
    return result;
  }

  // --- stages

  void skip_line_ends() {
    while (at_line_end() && token_.span.offset < source_.size()) move_to(token_.span.offset + 1);
  }

  Pipeline pipeline() {
    Pipeline result;
    skip_line_ends();
    while (!at_line_end() && !token_.is(")")) {
      result.stages.push_back(stage());
      const bool line_end = at_line_end();
      skip_line_ends();
      if (token_.is("|")) {
        advance();
        skip_line_ends();
        if (at_line_end() || token_.is(")")) unexpected("a stage behind `|`");
        continue;
      }
      if (!line_end && !token_.is(")")) unexpected("`|` or the end of the stage");
    }
    return result;
  }

  using Parse = void (StageParser::*)(Stage&);
  struct Word {
    std::string_view word;
    Parse parse;
  };
  static const std::vector<Word>& words();
  friend const std::vector<std::string_view>& table::stage_words();

  Stage stage() {
    if (token_.kind != TokenKind::identifier) unexpected("a stage, such as filter, derive, group, sort or take");
    Stage result;
    result.span = token_.span;
    for (const Word& each : words()) {
      if (!is_word(each.word)) continue;
      advance();
      (this->*each.parse)(result);
      return result;
    }
    for (const std::string_view word : kNotYet) {
      if (is_word(word)) fail_here("The stage `" + std::string(word) + "` is not there yet.");
    }
    const std::string near(formula::nearest_of(token_.spelling, stage_words()));
    std::string all;
    for (const std::string_view word : stage_words()) all += (all.empty() ? "" : ", ") + std::string(word);
    fail_here("There is no stage `" + std::string(token_.spelling) + "`." +
                  (near.empty() ? " The stages are " + all + "." : " Did you mean `" + near + "`?"),
              near);
  }

  void from(Stage& stage) { stage.content = From{source()}; }
  void select(Stage& stage) {
    Select result;
    result.exclude = is_word("exclude") && !behind().is(",") && !behind().is("|") && behind().kind != TokenKind::end;
    if (result.exclude) advance();
    result.picks = picks(!result.exclude);
    stage.content = std::move(result);
  }
  void rename(Stage& stage) {
    Rename result;
    do {
      if (!at_assignment()) unexpected("a new name, `=` and the column, such as rename total = amount");
      std::string name = new_name();
      accept("=");
      result.names.emplace_back(std::move(name), column());
    } while (accept(","));
    stage.content = std::move(result);
  }
  void derive(Stage& stage) { stage.content = Derive{assignments(true)}; }
  void filter(Stage& stage) { stage.content = Filter{expression()}; }
  void sort(Stage& stage) { stage.content = Sort{sort_keys()}; }
  void limit(Stage& stage, bool skip) {
    Limit result;
    result.skip = skip;
    result.amount = amount(skip ? "skip" : "take");
    if (accept_word("per")) result.per = columns();
    if (accept_word("by")) result.by = sort_keys();
    stage.content = std::move(result);
  }
  void take(Stage& stage) { limit(stage, false); }
  void skip(Stage& stage) { limit(stage, true); }
  void sample(Stage& stage) {
    Sample result;
    result.amount = amount("sample");
    if (accept_word("seed")) {
      const double seed = number("a number behind `seed`");
      result.seed = static_cast<std::uint64_t>(std::min(seed, 9e15));
    }
    stage.content = result;
  }
  void distinct(Stage& stage) {
    Distinct result;
    if (!at_line_end() && !token_.is("|") && !token_.is(")")) result.columns = columns();
    stage.content = std::move(result);
  }
  void group(Stage& stage) {
    Group result;
    const auto totals = [&](std::string_view word, Totals kind) {
      if (!is_word(word) || behind().is(",") || behind().is("=") || behind().is("(")) return;
      advance();
      result.totals = kind;
    };
    totals("totals", Totals::total);
    totals("rollup", Totals::rollup);
    totals("cube", Totals::cube);
    if (!token_.is("(")) result.keys = assignments(false);
    constexpr std::size_t kMostCubeKeys = 8;
    if (result.totals == Totals::cube && result.keys.size() > kMostCubeKeys) {
      fail_here("A cube of " + std::to_string(result.keys.size()) + " keys would group the table " +
                std::to_string(std::size_t{1} << std::min<std::size_t>(result.keys.size(), 62)) +
                " times; it takes 8 keys at most.");
    }
    if (token_.is("(")) {
      open();
      if (!token_.is(")")) result.aggregates = assignments(false);
      close();
    } else if (result.keys.empty()) {
      unexpected("keys, or aggregates in parentheses, such as group region (total = SUM(amount))");
    }
    stage.content = std::move(result);
  }
  void join(Stage& stage) {
    constexpr std::pair<std::string_view, JoinKind> kKinds[] = {
        {"inner", JoinKind::inner}, {"left", JoinKind::left}, {"right", JoinKind::right}, {"full", JoinKind::full},
        {"semi", JoinKind::semi},   {"anti", JoinKind::anti}, {"cross", JoinKind::cross}};
    Join result;
    const bool table_behind = behind().kind == TokenKind::identifier || behind().kind == TokenKind::text ||
                              behind().kind == TokenKind::bracketed || behind().is("(");
    if (table_behind && !formula::equal_without_case(behind().spelling, "on")) {
      for (const std::string_view word : kJoinsNotYet) {
        if (is_word(word)) fail_here("The join `" + std::string(word) + "` is not there yet.");
      }
      for (const auto& [word, kind] : kKinds) {
        if (!accept_word(word)) continue;
        result.kind = kind;
        break;
      }
    }
    result.right = source();
    if (result.kind != JoinKind::cross) {
      expect_word("on");
      do {
        ColumnName left = column();
        ColumnName right = left;
        if (token_.is("<") || token_.is(">") || token_.is("<=") || token_.is(">=") || token_.is("<>")) {
          fail_here("A join by inequality is not there yet; join on equal columns, or cross join and filter.");
        }
        if (accept("=")) right = column();
        result.keys.emplace_back(std::move(left), std::move(right));
      } while (accept(",") || accept_word("and"));
    }
    stage.content = std::move(result);
  }
  void combine(Stage& stage, SetKind kind) { stage.content = Combine{kind, source()}; }
  void append(Stage& stage) { combine(stage, SetKind::append); }
  void set_union(Stage& stage) { combine(stage, SetKind::set_union); }
  void intersect(Stage& stage) { combine(stage, SetKind::intersect); }
  void except(Stage& stage) { combine(stage, SetKind::except); }

  std::optional<std::int64_t> frame_end(bool& behind_row) {
    if (accept_word("start")) {
      behind_row = false;
      return std::nullopt;
    }
    if (accept_word("end")) {
      behind_row = true;
      return std::nullopt;
    }
    const bool negative = accept("-");
    const double rows = number("a number of rows, `start` or `end`");
    if (rows != std::floor(rows) || rows > 1e9) fail_here("A number of rows is a whole number up to 1,000,000,000.");
    return static_cast<std::int64_t>(negative ? -rows : rows);
  }
  void window(Stage& stage) {
    Window result;
    if (accept_word("per")) result.per = columns();
    if (accept_word("sort")) result.sort = sort_keys();
    if (accept_word("rows")) {
      // `rows 3`: this one and the two ahead; `rows -2 to 0` says the same.
      Frame frame;
      bool is_end = false;
      const Token place = token_;
      const auto first = frame_end(is_end);
      if (accept_word("to")) {
        if (is_end) throw SyntaxError("A frame cannot begin at the end.", place.span.offset, place.span.length);
        frame.before = first ? std::optional(-*first) : std::nullopt;
        const Token last_place = token_;
        frame.after = frame_end(is_end);
        const bool backwards = first && frame.after && *frame.after < *first;
        if (backwards || (!frame.after && !is_end)) {
          throw SyntaxError("The frame ends ahead of its begin.", last_place.span.offset,
                            std::max<std::size_t>(last_place.span.length, 1));
        }
      } else {
        if (!first || *first < 1)
          throw SyntaxError("Expected a number of rows from 1 on, or a range such as -2 to 0.", place.span.offset,
                            std::max<std::size_t>(place.span.length, 1));
        frame.before = *first - 1;
        frame.after = 0;
      }
      result.rows = frame;
    }
    if (accept_word("range")) fail_here("A frame by range is not there yet; give rows.");
    line_options_.own_functions = inside_options_.own_functions = window_functions();
    open();
    result.columns = assignments(false);
    line_options_.own_functions = inside_options_.own_functions = table_functions();
    close();
    stage.content = std::move(result);
  }
  void pivot(Stage& stage) {
    Pivot result;
    if (!is_word("by") || behind().is(",")) result.keys = assignments(false);
    expect_word("by");
    result.by = column();
    open();
    result.aggregate = assignment(false);
    close();
    stage.content = std::move(result);
  }
  void unpivot(Stage& stage) {
    Unpivot result;
    result.exclude = accept_word("exclude");
    result.picks = picks(false);
    expect_word("into");
    result.name_column = new_name();
    if (!accept(",")) unexpected("`,` and a name for the values, such as unpivot \"q*\" into quarter, amount");
    result.value_column = new_name();
    stage.content = std::move(result);
  }
  void fill(Stage& stage) {
    Fill result;
    const bool assigns = at_assignment();
    if (!assigns && accept_word("down")) {
      result.columns = columns();
    } else if (!assigns && accept_word("up")) {
      result.mode = FillMode::up;
      result.columns = columns();
    } else if (!assigns && accept_word("interpolate")) {
      result.mode = FillMode::interpolate;
      result.columns = columns();
    } else {
      result.mode = FillMode::value;
      do {
        result.columns.push_back(column());
        if (!accept("=")) unexpected("`down`, `up` or `interpolate` and columns, or a column, `=` and a value");
        result.values.push_back(expression());
      } while (accept(","));
    }
    stage.content = std::move(result);
  }
  void describe(Stage& stage) { stage.content = Describe{}; }
  void assert_(Stage& stage) {
    Assert result{expression(), {}};
    if (accept(",")) {
      if (token_.kind != TokenKind::text) unexpected("a text in quotes that says what is wrong");
      result.message = token_.text;
      advance();
    }
    stage.content = std::move(result);
  }
  void let(Stage& stage) {
    Let result;
    result.span = token_.span;
    if (!at_assignment()) unexpected("a name and `=`, such as let rate = 0.2");
    result.name = new_name();
    accept("=");
    if (token_.is("(") && behind().kind == TokenKind::identifier && is_stage_word(behind().spelling)) {
      result.value = source().pipeline;
    } else {
      result.value = expression();
    }
    stage.content = std::move(result);
  }
  static bool is_stage_word(std::string_view word) {
    return std::ranges::any_of(stage_words(),
                               [&](std::string_view each) { return formula::equal_without_case(each, word); });
  }

  std::string_view source_;
  formula::ParseOptions line_options_ = formula::ParseOptions::table_language();
  formula::ParseOptions inside_options_ = formula::ParseOptions::table_language();
  Token token_;
  int inside_ = 0, nesting_ = 0;
};

const std::vector<StageParser::Word>& StageParser::words() {
  static const std::vector<Word> kWords = {
      {"from", &StageParser::from},         {"select", &StageParser::select},   {"rename", &StageParser::rename},
      {"derive", &StageParser::derive},     {"filter", &StageParser::filter},   {"sort", &StageParser::sort},
      {"take", &StageParser::take},         {"skip", &StageParser::skip},       {"sample", &StageParser::sample},
      {"distinct", &StageParser::distinct}, {"group", &StageParser::group},     {"join", &StageParser::join},
      {"append", &StageParser::append},     {"union", &StageParser::set_union}, {"intersect", &StageParser::intersect},
      {"except", &StageParser::except},     {"window", &StageParser::window},   {"pivot", &StageParser::pivot},
      {"unpivot", &StageParser::unpivot},   {"fill", &StageParser::fill},       {"describe", &StageParser::describe},
      {"assert", &StageParser::assert_},    {"let", &StageParser::let},
  };
  return kWords;
}

}  // namespace

const std::vector<std::string_view>& stage_words() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const auto& each : StageParser::words()) all.push_back(each.word);
    return all;
  }();
  return names;
}

Pipeline parse_pipeline(std::string_view source) {
  return StageParser(source).whole();
}

}  // namespace glmhost::table
