#include <doctest/doctest.h>

#include <limits>
#include <set>
#include <string>

#include "excel-addin/functions/call_error.h"
#include "excel-addin/functions/catalogue.h"
#include "excel-addin/functions/options.h"
#include "excel-addin/functions/question.h"
#include "excel-addin/functions/rendering.h"

using namespace glmhost;
using namespace glmhost::functions;
using formula::Array;
using formula::ErrorCode;

namespace {

std::string sentence_of(const auto& action) {
  try {
    action();
  } catch (const CallError& error) {
    return error.what();
  }
  return {};
}

Argument text(const char* words) {
  return Argument::of(Value(words));
}

Argument list(std::initializer_list<Value> cells) {
  return Argument::of(Array(cells.size(), 1, std::vector<Value>(cells)));
}

formula::Area area(std::uint32_t row, std::uint32_t column, std::uint32_t last_row, std::uint32_t last_column) {
  formula::Area place{row, column, last_row, last_column, "Sheet1"};
  return place;
}

Topic topic(const std::vector<Argument>& arguments) {
  return topic_of(FunctionId::glm, arguments, {});
}

Plan plan(FunctionId function, const std::vector<Argument>& arguments) {
  return make_plan(function, arguments, {}, 100'000, topic(arguments));
}

std::string rendered(const Argument& argument, std::size_t most = 100'000) {
  std::string note;
  return joined(render(argument, most), most, note);
}

}  // namespace

TEST_CASE("options are read as people write them") {
  const Options options =
      parse_options(" Model = glm-4 ; TEMPERATURE=0,5;max_tokens=9\nseed=18446744073709551615; thinking=ON;");
  CHECK(options.model == "glm-4");
  CHECK(options.temperature == 0.5);
  CHECK(options.max_tokens == 9);
  CHECK(options.seed == std::numeric_limits<std::uint64_t>::max());
  CHECK(options.thinking);
  CHECK(parse_options("") == Options{});
  CHECK(parse_options("").temperature == 0);
}

TEST_CASE("a misspelt option is named, with the one that was meant") {
  CHECK(sentence_of([] { parse_options("temprature=1"); }).find("Did you mean temperature?") != std::string::npos);
  CHECK(sentence_of([] { parse_options("max-tokens=1"); }).find("max_tokens") != std::string::npos);
  for (const char* wrong : {"seed", "seed=", "seed=1;seed=2", "seed=-1", "seed=1.5", "temperature=11", "temperature=x",
                            "max_tokens=0", "thinking=maybe", "=1", "tokens of all kinds=4"}) {
    CHECK_MESSAGE(!sentence_of([&] { parse_options(wrong); }).empty(), wrong);
  }
}

TEST_CASE("cells keep their meaning in a prompt") {
  Array cells(3, 3);
  cells(0, 0) = "region";
  cells(0, 1) = "amount";
  cells(0, 2) = "due";
  cells(1, 0) = "north\nwest";
  cells(1, 1) = 12.5;
  cells(1, 2) = Value(45'626, formula::NumberKind::date);
  cells(2, 0) = "";
  cells(2, 1) = ErrorCode::not_available;
  const Argument range = Argument::reference(area(1, 2, 3, 4), std::make_shared<ValueBlock>(Value(cells)));
  CHECK(rendered(range) ==
        "Cells Sheet1!C2:E4:\n"
        "row\tC: region\tD: amount\tE: due\n"
        "3\tnorth west\t12.5\t2024-11-30\n"
        "4\t\"\"\t#N/A\t\n");
  CHECK(rendered(text("a\nb")) == "a\nb");
  CHECK(rendered(Argument::of(Value(true))) == "TRUE");
  CHECK(rendered(Argument::reference(area(0, 0, 9, 9), nullptr)) == "Cells Sheet1!A1:J10: all empty.\n");
  // A whole column, of which rows 5 and 6 are used.
  const Argument column = Argument::reference(area(0, 0, formula::kMostRows - 1, 0),
                                              std::make_shared<ValueBlock>(Value(Array(2, 1, {1.0, 2.0}))), 4);
  CHECK(rendered(column).find("\n5\t1\n6\t2\n") != std::string::npos);
}

TEST_CASE("what does not fit is left out at the end and said") {
  Array cells(1000, 1);
  for (std::size_t i = 0; i < 1000; ++i) cells[i] = static_cast<double>(i);
  const Argument range = Argument::reference(area(0, 0, 999, 0), std::make_shared<ValueBlock>(Value(cells)));
  for (const std::size_t rendered_bytes : {std::size_t{1'000'000}, std::size_t{2000}}) {
    std::string note;
    const std::string words = joined(render(range, rendered_bytes), 500, note);
    CHECK(words.size() < 560);
    CHECK(words.find("\n1\t0\n2\t1\n") != std::string::npos);
    CHECK(note.find("of 1000 rows of Sheet1!A1:A1000 were left out") != std::string::npos);
  }
}

TEST_CASE("a question's name is its content, not its place") {
  const auto block = std::make_shared<ValueBlock>(Value(Array(2, 1, {1.0, Value("x")})));
  const Argument here = Argument::reference(area(0, 0, 1, 0), block);
  const Argument below = Argument::reference(area(1, 0, 2, 0), block);
  CHECK(topic({text("a"), here}) == topic({text("a"), below}));
  // Each of these is another question.
  const std::set<std::string> names = {topic({text("a")}).text(),
                                       topic({text("a"), text("")}).text(),
                                       topic({text("a"), Argument::of(Value())}).text(),
                                       topic({text("a"), Argument::of(Value(0.0))}).text(),
                                       topic({text("a"), Argument::of(Value(false))}).text(),
                                       topic({text("a"), Argument()}).text(),
                                       topic({text("a"), here}).text(),
                                       topic({text("ab")}).text(),
                                       topic({text("a"), text("b")}).text()};
  CHECK(names.size() == 9);
  CHECK(Topic::parse(topic({text("a")}).text()) == topic({text("a")}));
  CHECK_FALSE(Topic::parse("x"));
}

TEST_CASE("labels: blanks and duplicates do not count, errors and none at all are refused") {
  const Plan one = plan(FunctionId::classify, {text("fine"), list({"good", "", " good ", "bad"})});
  CHECK(one.questions[0]->form->choices == std::vector<std::string>{"good", "bad"});
  CHECK_FALSE(one.is_array);
  CHECK(!sentence_of([] { plan(FunctionId::classify, {text("x"), list({"", Value()})}); }).empty());
  CHECK(!sentence_of([] { plan(FunctionId::classify, {text("x"), list({"a", ErrorCode::reference})}); }).empty());
  CHECK(!sentence_of([] { plan(FunctionId::classify, {Argument(), list({"a"})}); }).empty());
}

TEST_CASE("each value of a column is asked once; empty cells and errors are not") {
  const Plan many =
      plan(FunctionId::classify, {list({"a", "", ErrorCode::division, Value(), 5.0}), list({"yes", "no"})});
  CHECK(many.questions.size() == 2);
  const std::vector<Value> answers = {"yes", "no"};
  const Value value = assemble(many, answers);
  CHECK(value.array()[0].text() == "yes");
  CHECK(value.array()[1].text().empty());
  CHECK(value.array()[2].error() == ErrorCode::division);
  CHECK(value.array()[3].text().empty());
  CHECK(value.array()[4].text() == "no");
  const Plan single = plan(FunctionId::classify, {text("a"), list({"yes", "no"})});
  CHECK(single.questions[0]->key == many.questions[0]->key);
  CHECK_FALSE(single.questions[0]->key == many.questions[1]->key);
}

TEST_CASE("fields have types; an unknown one is named with the one that was meant") {
  const Plan row = plan(FunctionId::extract, {text("Ann owes 5"), list({"who", "amount:number", "due : Date"})});
  CHECK(row.columns == 3);
  protocol::Result result;
  result.content = R"({"who":"Ann","amount":5,"due":"2024-11-30"})";
  std::string note;
  const Value value = assemble(row, std::vector<Value>{to_value(*row.questions[0], result, note)});
  CHECK(value.array()[0].text() == "Ann");
  CHECK(value.array()[1].number() == 5);
  CHECK(value.array()[2].number() == 45'626);
  CHECK(value.array()[2].kind() == formula::NumberKind::date);
  const std::string sentence = sentence_of([] { plan(FunctionId::extract, {text("x"), list({"amount:nmuber"})}); });
  CHECK(sentence.find("Did you mean number?") != std::string::npos);
  CHECK(!sentence_of([] { plan(FunctionId::extract, {text("x"), list({"a", "a"})}); }).empty());
  CHECK(!sentence_of([] { plan(FunctionId::extract, {text("x"), list({""})}); }).empty());
}

TEST_CASE("an answer longer than a cell is cut and said to be") {
  const Plan one = plan(FunctionId::glm, {text("x")});
  protocol::Result result;
  result.content = std::string(40'000, 'a');
  std::string note;
  CHECK(to_value(*one.questions[0], result, note).text().size() == 32'767);
  CHECK(note.find("40000") != std::string::npos);
}

TEST_CASE("an answer cut inside of its form is no answer") {
  const Plan one = plan(FunctionId::number, {text("x")});
  protocol::Result result;
  result.content = "1234";
  result.finish_reason = "length";
  std::string note;
  CHECK_THROWS_AS(to_value(*one.questions[0], result, note), CallError);
}

TEST_CASE("an error as a prompt is the formula's error") {
  try {
    plan(FunctionId::glm, {Argument::of(Value(ErrorCode::reference))});
    FAIL("it was asked");
  } catch (const CallError& error) {
    CHECK(error.code() == ErrorCode::reference);
  }
  CHECK(!sentence_of([] { plan(FunctionId::glm, {text(" ")}); }).empty());
}

TEST_CASE("the catalogue says what Excel can register") {
  std::set<std::string_view> names;
  for (const FunctionInfo& function : catalogue()) {
    CHECK(&info(function.id) == &function);
    CHECK(names.insert(function.name).second);
    CHECK(function.help.size() < 255);
    for (const ArgumentInfo& argument : function.arguments) CHECK(argument.help.size() < 255);
    CHECK(argument_names(function.id).size() < 8192);
  }
  CHECK(argument_names(FunctionId::glm).starts_with("prompt1,context1,prompt2,context2,prompt3"));
  CHECK(argument_names(FunctionId::table).starts_with("pipeline,table1,table2"));
  CHECK(argument_names(FunctionId::classify) == "values,labels,instructions");
  CHECK(argument_names(FunctionId::version).empty());
}
