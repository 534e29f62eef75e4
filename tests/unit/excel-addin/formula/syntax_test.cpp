// What is no expression gets one sentence, with its place.
#include <doctest/doctest.h>

#include <string>

#include "excel-addin/formula/evaluator.h"
#include "excel-addin/formula/function.h"
#include "excel-addin/formula/parser.h"

namespace glmhost::formula {
namespace {

SyntaxError error_of(const std::string& source, const ParseOptions& options = {}) {
  try {
    parse(source, options);
  } catch (const SyntaxError& error) {
    return error;
  }
  FAIL("this parsed: " << source);
  return SyntaxError("", 0);
}

Value value_of(const std::string& source, const ParseOptions& options = {}) {
  Context context;
  context.resolve_name = [](const Name& name) -> std::optional<Value> {
    if (name.kind == NameKind::position) return Value("#" + name.text);
    if (name.text == "amount") return Value(120.0);
    if (name.text == "Order Date" || name.text == "v1") return Value(7.0);
    if (name.text == "region") return Value("eu");
    if (name.text == "a]b") return Value(8.0);
    return std::nullopt;
  };
  return evaluate(parse(source, options), context);
}

}  // namespace

TEST_CASE("a mistake is named with its place") {
  struct Mistake {
    const char* source;
    std::size_t offset;
    const char* says;
  };
  const Mistake mistakes[] = {
      {"", 0, "Expected a value"},
      {"=", 1, "Expected a value"},
      {"1+", 2, "the expression ends here"},
      {"1 2", 2, "Expected an operator or the end"},
      {"(1", 2, "to close the `(` at column 1"},
      {"1)", 1, "there is `)`"},
      {"SUM(1,2", 7, "in the arguments of SUM"},
      {"SUM(1 2)", 6, "in the arguments of SUM"},
      {"ROUND(1)", 0, "ROUND(number, digits)"},
      {"ROUND(1,2,3)", 0, "takes at most 2 arguments, not 3"},
      {"PI(1)", 0, "takes at most 0 arguments"},
      {"1+\"abc", 2, "no closing quote"},
      {"[abc", 0, "no closing bracket"},
      {"[]", 0, "is empty"},
      {"#NOPE", 0, "error value"},
      {"{1,2;3}", 6, "the first has 2, row 2 has 1"},
      {"{1,A1}", 3, "in an array"},
      {"{}", 1, "in an array"},
      {"A1:", 3, "followed by nothing"},
      {"A1:B", 3, "Expected a range"},
      {"$A", 0, "is no cell"},
      {"Sheet!", 6, "Expected a cell"},
      {"1e999", 0, "too large"},
      {"LET(1,2,3)", 4, "Expected a name"},
      {"LET(x,2)", 0, "needs a name and a value"},
      {"1 @ 2", 2, "there is `@`"},
      {"\xff", 0, "Expected a value"},
  };
  for (const Mistake& mistake : mistakes) {
    CAPTURE(mistake.source);
    const SyntaxError error = error_of(mistake.source);
    CHECK(error.offset() == mistake.offset);
    CHECK_MESSAGE(std::string(error.what()).find(mistake.says) != std::string::npos, error.what());
  }
}

TEST_CASE("a mistyped function gets the nearest name") {
  CHECK(error_of("VLOKUP(1,2,3)").suggestion() == "VLOOKUP");
  CHECK(error_of("sumproduckt(1)").suggestion() == "SUMPRODUCT");
  CHECK(error_of("AVERGE(1)").suggestion() == "AVERAGE");
  CHECK(error_of("qqqqqqqq(1)").suggestion().empty());
  CHECK(std::string(error_of("IFEROR(1,2)").what()) == "There is no function `IFEROR`. Did you mean `IFERROR`?");
}

TEST_CASE("a place is a line, a column and a caret") {
  const std::string source = "1 +\n\"日本\" & SUMM(1)";
  const SyntaxError error = error_of(source);
  const Position position = position_of(source, error.offset());
  CHECK(position.line == 2);
  CHECK(position.column == 8);
  // Wide characters take two places on a terminal.
  CHECK(caret_text(source, error.offset(), error.length()) == "\"日本\" & SUMM(1)\n         ^~~~\n");
  CHECK(caret_text("1+", 2, 1) == "1+\n  ^\n");
  const std::string line(300, '1');
  const std::string cut = caret_text(line + "+" + line, 300, 1);
  CHECK(cut.size() < 260);
  CHECK(cut.find("...") == 0);
}

TEST_CASE("hostile sources are refused, not followed") {
  const std::string many(100'000, '(');
  CHECK(std::string(error_of(many).what()).find("nested more than") != std::string::npos);
  CHECK(std::string(error_of(std::string(100'000, '-') + "1").what()).find("nested more than") != std::string::npos);
  std::string calls;
  for (int i = 0; i < 50'000; ++i) calls += "ABS(";
  CHECK(std::string(error_of(calls).what()).find("nested more than") != std::string::npos);
  std::string powers = "1";
  for (int i = 0; i < 50'000; ++i) powers += "=1&1";
  CHECK(value_of(powers).is_boolean());
  CHECK(std::string(error_of(std::string((1 << 20) + 1, ' ')).what()).find("1 MiB") != std::string::npos);
  std::string arguments = "SUM(1";
  for (int i = 0; i < 255; ++i) arguments += ",1";
  CHECK(std::string(error_of(arguments + ")").what()).find("255 arguments") != std::string::npos);
}

TEST_CASE("a long sum is no deep tree") {
  std::string sum = "0";
  for (int i = 0; i < 100'000; ++i) sum += "+1";
  CHECK(value_of(sum).number() == 100'000);
  std::string percents = "1" + std::string(1000, '%');
  CHECK(value_of(percents).number() == 0);
}

TEST_CASE("names are the caller's") {
  CHECK(value_of("amount*2").number() == 240);
  CHECK(value_of("[Order Date]+1").number() == 8);
  CHECK(value_of("[a]]b]").number() == 8);
  CHECK(value_of("#3&\"\"").text() == "#3");
  CHECK(value_of("nobody").error() == ErrorCode::name);
  CHECK(value_of("LET(amount,1,amount)").number() == 1);
}

TEST_CASE("the table language adds words") {
  const ParseOptions table = ParseOptions::table_language();
  CHECK(value_of("amount > 100 and region in (\"EU\", \"US\")", table).boolean());
  CHECK(value_of("region not in (\"EU\", \"US\")", table).boolean() == false);
  CHECK(value_of("region in {\"EU\"} or 1 = 2 and 1 = 2", table).boolean());
  CHECK(value_of("not region = \"US\"", table).boolean());
  CHECK(value_of("not(amount > 100)", table).boolean() == false);
  CHECK(value_of("region in (LOWER(\"EU\"), amount)", table).boolean());
  CHECK(value_of("region = \"EU\"", table).boolean());
  CHECK(value_of("region == \"EU\"", table).boolean() == false);
  CHECK(value_of("region == \"eu\"", table).boolean());
  CHECK(value_of("region !== \"EU\"", table).boolean());
  CHECK(value_of("region != \"EU\"", table).boolean() == false);
  CHECK(value_of("v1 + 1", table).number() == 8);  // a column, no cell
  CHECK(error_of("1 and 2").offset() == 2);        // Excel's grammar has no such words
  CHECK(std::string(error_of("region not 1", table).what()).find("`in` after `not`") != std::string::npos);
  CHECK(std::string(error_of("region in 1", table).what()).find("a list in parentheses") != std::string::npos);
}

TEST_CASE("a prefix ends where the expression does") {
  const ParseOptions table = ParseOptions::table_language();
  const std::string pipeline = "filter amount > (1 +\n 2) | sort x";
  const ParsedPrefix prefix = parse_prefix(pipeline, 7, table);
  CHECK(pipeline.substr(prefix.end) == "| sort x");
  const std::string lines = "amount\n| take 1";
  CHECK(parse_prefix(lines, 0, table).end == 6);
}

TEST_CASE("a tree stands in one row, children first") {
  const SyntaxTree tree = parse("SUM(1,-x)+IF(y,{1,2},3)%");
  for (NodeId id = 0; id < tree.nodes().size(); ++id) {
    const auto& content = tree[id].content;
    if (const auto* binary = std::get_if<Binary>(&content)) CHECK((binary->left < id && binary->right < id));
    if (const auto* unary = std::get_if<Unary>(&content)) CHECK(unary->operand < id);
    if (const auto* call = std::get_if<Call>(&content)) {
      for (const NodeId argument : tree.arguments_of(*call)) CHECK(argument < id);
    }
  }
  CHECK(std::holds_alternative<Binary>(tree[tree.root()].content));
  CHECK(tree[tree.root()].span.offset == 0);
  CHECK(tree[tree.root()].span.length == 24);
}

TEST_CASE("the table of functions tells what a client needs") {
  CHECK(all_functions().size() >= 370);
  const Function* round = find_function("_xlfn.round");
  REQUIRE(round != nullptr);
  CHECK(round->signature() == "ROUND(number, digits)");
  CHECK(round->arity().least == 2);
  CHECK(round->arity().most == 2);
  const Function* sumifs = find_function("sumifs");
  REQUIRE(sumifs != nullptr);
  CHECK(sumifs->arity().least == 3);
  CHECK(sumifs->arity().most == 255);
  CHECK(sumifs->takes_whole(0));
  CHECK(sumifs->takes_whole(1));
  CHECK_FALSE(sumifs->takes_whole(2));
  CHECK(sumifs->takes_whole(101));
  CHECK_FALSE(sumifs->takes_whole(102));
  CHECK(sumifs->has(Trait::aggregate));
  CHECK(find_function("NOW")->has(Trait::is_volatile));
  CHECK(find_function("VLOOKUP")->parameter_names() ==
        std::vector<std::string>{"wanted", "table", "column", "approximate"});
  for (const Function& function : all_functions()) {
    CAPTURE(function.name);
    CHECK(find_function(function.name) == &function);  // no name stands twice
    CHECK_FALSE(function.description.empty());
    CHECK((function.eager != nullptr) != (function.lazy != nullptr));
  }
}

}  // namespace glmhost::formula
