#include <algorithm>
#include <charconv>
#include <cmath>

#include "excel-addin/formula/lexer.h"
#include "excel-addin/formula/parser.h"
#include "excel-addin/formula/regex.h"
#include "excel-addin/formula/text_units.h"
#include "excel-addin/table/pipeline.h"
#include "excel-addin/table/table_functions.h"

namespace glmhost::table {
namespace {

using formula::SyntaxError;
using formula::Token;
using formula::TokenKind;

constexpr int kMostPipelineNesting = 32;

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
    const auto table_behind = [&] {
      const Token next = behind();
      const bool names = next.kind == TokenKind::identifier || next.kind == TokenKind::text ||
                         next.kind == TokenKind::bracketed || next.is("(");
      return names && !formula::equal_without_case(next.spelling, "on");
    };
    const Token first = token_;
    bool kind_given = false;
    while (table_behind()) {
      const bool match_given = result.match != JoinMatch::all;
      if (!match_given && accept_word("asof")) {
        result.match = JoinMatch::nearest;
        continue;
      }
      if (!match_given && accept_word("fuzzy")) {
        result.match = JoinMatch::most_alike;
        continue;
      }
      const auto* kind = std::ranges::find_if(kKinds, [&](const auto& each) { return is_word(each.first); });
      if (kind_given || kind == std::end(kKinds)) break;
      advance();
      result.kind = kind->second;
      kind_given = true;
    }
    if (result.kind == JoinKind::cross && result.match != JoinMatch::all)
      throw SyntaxError("A cross join has no keys to match by.", first.span.offset, first.span.length);
    result.right = source();
    if (result.kind != JoinKind::cross) {
      expect_word("on");
      const Token keys = token_;
      do {
        result.keys.push_back(join_key());
      } while (accept(",") || accept_word("and"));
      check_keys(result, keys);
      if (result.match == JoinMatch::most_alike && accept_word("score")) {
        const Token place = token_;
        result.least_score = number("the least score, from 0 to 1, such as score 0.8");
        if (result.least_score > 1)
          throw SyntaxError("A score is from 0 (nothing alike) to 1 (equal).", place.span.offset, place.span.length);
      }
    }
    stage.content = std::move(result);
  }
  JoinKey join_key() {
    constexpr std::pair<std::string_view, Compare> kCompares[] = {
        {"=", Compare::equal},          {"<>", Compare::unequal}, {"<", Compare::less},
        {"<=", Compare::less_or_equal}, {">", Compare::greater},  {">=", Compare::greater_or_equal}};
    JoinKey key;
    key.left = key.right = column();
    for (const auto& [symbol, compare] : kCompares) {
      if (!accept(symbol)) continue;
      key.compare = compare;
      key.right = column();
      break;
    }
    return key;
  }
  static void check_keys(const Join& join, const Token& place) {
    const auto fail = [&](const char* sentence) {
      throw SyntaxError(sentence, place.span.offset, std::max<std::size_t>(place.span.length, 1));
    };
    const auto count = [&](auto is) { return std::ranges::count_if(join.keys, is); };
    const auto unequal = count([](const JoinKey& key) { return key.compare == Compare::unequal; });
    const auto ordered =
        count([](const JoinKey& key) { return key.compare != Compare::equal && key.compare != Compare::unequal; });
    if (join.match == JoinMatch::nearest && (ordered != 1 || unequal != 0))
      fail("An as-of join needs one key with an order, beside equal ones, such as on symbol, time >= time.");
    if (join.match == JoinMatch::most_alike && ordered + unequal != 0)
      fail("A fuzzy join takes a key of texts and equal ones, such as on name = company, country.");
  }
  void set_operation(Stage& stage, SetKind kind) { stage.content = SetOperation{kind, source()}; }
  void append(Stage& stage) { set_operation(stage, SetKind::append); }
  void set_union(Stage& stage) { set_operation(stage, SetKind::set_union); }
  void intersect(Stage& stage) { set_operation(stage, SetKind::intersect); }
  void except(Stage& stage) { set_operation(stage, SetKind::except); }

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
  std::optional<double> range_end(std::string_view open_end) {
    if (accept_word(open_end)) return std::nullopt;
    const bool negative = accept("-");
    const double distance = number("a distance from the row's value, or `" + std::string(open_end) + "`");
    return negative ? -distance : distance;
  }
  RangeFrame range_frame() {
    RangeFrame frame;
    frame.first = range_end("start");
    // `range 7` could mean 7 days or 8.
    if (!is_word("to")) unexpected("`to`, as in range -6 to 0");
    advance();
    const Token place = token_;
    frame.last = range_end("end");
    if (frame.first && frame.last && *frame.last < *frame.first)
      throw SyntaxError("The frame ends ahead of its begin.", place.span.offset,
                        std::max<std::size_t>(place.span.length, 1));
    return frame;
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
    if (!result.rows && accept_word("range")) {
      if (result.sort.size() != 1)
        fail_here("A frame by range needs one sort key, such as window sort date range -6 to 0 (...).");
      result.range = range_frame();
    }
    line_options_.own_functions = inside_options_.own_functions = window_functions();
    open();
    result.columns = assignments(false);
    line_options_.own_functions = inside_options_.own_functions = table_functions();
    close();
    stage.content = std::move(result);
  }
  void pivot(Stage& stage) {
    Pivot result;
    if (is_word("totals") && !behind().is(",") && !behind().is("=") && !behind().is("(")) {
      result.totals = true;  // a column of that name is written [totals]
      advance();
    }
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
  std::string quoted(const std::string& wanted) {
    if (token_.kind != TokenKind::text) unexpected(wanted);
    std::string text = token_.text;
    advance();
    return text;
  }
  void split(Stage& stage) {
    Split result;
    result.column = column();
    expect_word("by");
    result.regex = accept_word("regex");
    const Token place = token_;
    result.delimiter = quoted("a text in quotes to split at, such as \",\", or regex \"PATTERN\"");
    const bool sound = result.regex ? formula::Regex(result.delimiter, false).valid() : !result.delimiter.empty();
    if (!sound)
      throw SyntaxError(result.regex ? "This is no regular expression." : "There is nothing to split at.",
                        place.span.offset, place.span.length);
    if (accept_word("into")) {
      result.into = SplitInto::named_columns;
      result.names = {new_name()};
      while (accept(",")) result.names.push_back(new_name());
    } else if (accept_word("to")) {
      if (accept_word("columns")) {
        result.into = SplitInto::columns;
      } else if (!accept_word("rows")) {
        unexpected("`rows` or `columns`");
      }
    }
    stage.content = std::move(result);
  }
  void combine(Stage& stage) {
    CombineColumns result;
    result.columns = columns();
    expect_word("into");
    result.name = new_name();
    if (accept_word("by")) result.delimiter = quoted("a text in quotes to put between");
    stage.content = std::move(result);
  }
  SequenceStep sequence_step() {
    constexpr std::pair<std::string_view, StepUnit> kUnits[] = {
        {"day", StepUnit::day},         {"days", StepUnit::day},         {"week", StepUnit::week},
        {"weeks", StepUnit::week},      {"month", StepUnit::month},      {"months", StepUnit::month},
        {"quarter", StepUnit::quarter}, {"quarters", StepUnit::quarter}, {"year", StepUnit::year},
        {"years", StepUnit::year}};
    SequenceStep result;
    const Token place = token_;
    const bool counted = token_.kind == TokenKind::number;
    if (counted) result.count = number("a step");
    for (const auto& [word, unit] : kUnits) {
      if (!accept_word(word)) continue;
      result.unit = unit;
      break;
    }
    if (!counted && result.unit == StepUnit::number) unexpected("a step, such as day, 2 weeks, month, year or 0.5");
    const bool whole = result.unit == StepUnit::number || result.count == std::floor(result.count);
    if (!(result.count > 0) || !whole || result.count > 1e9)
      throw SyntaxError("A step is above 0, and a whole number of days, weeks, months or years.", place.span.offset,
                        place.span.length);
    return result;
  }
  void complete(Stage& stage) {
    Complete result;
    do {
      CompleteKey key;
      key.column = column();
      if (accept_word("every")) key.every = sequence_step();
      result.keys.push_back(std::move(key));
    } while (accept(","));
    if (accept_word("per")) result.per = columns();
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
      {"from", &StageParser::from},
      {"select", &StageParser::select},
      {"rename", &StageParser::rename},
      {"derive", &StageParser::derive},
      {"filter", &StageParser::filter},
      {"sort", &StageParser::sort},
      {"take", &StageParser::take},
      {"skip", &StageParser::skip},
      {"sample", &StageParser::sample},
      {"distinct", &StageParser::distinct},
      {"group", &StageParser::group},
      {"join", &StageParser::join},
      {"append", &StageParser::append},
      {"union", &StageParser::set_union},
      {"intersect", &StageParser::intersect},
      {"except", &StageParser::except},
      {"window", &StageParser::window},
      {"pivot", &StageParser::pivot},
      {"unpivot", &StageParser::unpivot},
      {"fill", &StageParser::fill},
      {"describe", &StageParser::describe},
      {"assert", &StageParser::assert_},
      {"let", &StageParser::let},
      {"split", &StageParser::split},
      {"combine", &StageParser::combine},
      {"complete", &StageParser::complete},
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
