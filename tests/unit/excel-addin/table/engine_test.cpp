#include <doctest/doctest.h>

#include <random>

#include "excel-addin/formula/evaluator.h"
#include "excel-addin/formula/parser.h"
#include "tests/unit/excel-addin/table/tables.h"

using namespace glmhost::table;
namespace formula = glmhost::formula;

namespace {

// Numbers, texts, booleans, dates, errors, empty cells, mixed columns.
std::string many_rows(std::size_t rows) {
  std::mt19937_64 random(5);
  std::string text = "i,n,t,u,b,d,m,e\n";
  const char* const words[] = {"EU", "eu", "US", "", "Ärger", "ÄRGER", "12", "x y"};
  for (std::size_t i = 0; i < rows; ++i) {
    const auto pick = [&](std::uint64_t n) { return random() % n; };
    text += std::to_string(i) + ",";
    text += pick(9) == 0 ? ","
                         : std::to_string(static_cast<int>(pick(2001)) - 1000) + "." + std::to_string(pick(100)) + ",";
    text += std::string(words[pick(8)]) + "," + std::string(words[pick(8)]) + ",";
    text += std::string(pick(5) == 0 ? "" : pick(2) == 0 ? "TRUE" : "FALSE") + ",";
    text += pick(6) == 0 ? "," : "2026-0" + std::to_string(1 + pick(9)) + "-1" + std::to_string(pick(9)) + ",";
    text += (pick(4) == 0 ? "n/a" : pick(4) == 0 ? "#N/A" : std::to_string(pick(50))) + ",\n";
  }
  return text;
}

}  // namespace

TEST_CASE("the quick ways agree with the formula library in every cell") {
  const std::string csv = many_rows(3000);
  Workers workers(2);
  const Table table = read_csv(csv, {}, workers).table;
  REQUIRE(table.width() == 8);
  for (const std::string expression : {"n + i",
                                       "n - m",
                                       "n * 1e306 * n",
                                       "n / (i - 5)",
                                       "n ^ 0.5",
                                       "0 ^ (i - 3)",
                                       "-n",
                                       "n%",
                                       "d + 1",
                                       "d - d",
                                       "d - n",
                                       "d * 2",
                                       "m + 1",
                                       "b + 1",
                                       "t + 1",
                                       "n > i",
                                       "n = 0",
                                       "n <> m",
                                       "m >= 20",
                                       "t = u",
                                       "t = \"eu\"",
                                       "t < u",
                                       "t > 5",
                                       "b = TRUE",
                                       "b > n",
                                       "d > DATE(2026,5,1)",
                                       "e = 0",
                                       "e = \"\"",
                                       "e & t",
                                       "n > 0 and b",
                                       "b or m",
                                       "not b",
                                       "not (n > 0 or t = \"EU\")",
                                       "t and b",
                                       "n > 0 or #N/A",
                                       "IF(n > 0, n, -n)",
                                       "IF(b, t, u)",
                                       "IF(n > 0, \"high\", \"low\")",
                                       "IF(m, 1, \"x\")",
                                       "IF(n > 0, d, n)",
                                       "IF(b, IF(n > 0, t, \"neg\"), 5)",
                                       "IF(n > 0, t)",
                                       "IF(t = \"EU\", 1, 0) + IF(u = \"EU\", 1, 0)",
                                       "UPPER(t)",
                                       "LEN(t) + n",
                                       "IFERROR(VALUE(t), n)",
                                       "ROUND(n, 1)",
                                       "MONTH(d)",
                                       "t in (\"eu\", \"us\")",
                                       "n in (1, 2, i)",
                                       "t not in (\"eu\")",
                                       "t == \"EU\"",
                                       "LET(x, n * 2, IF(x > 0, x, t))",
                                       "MAX(n, i)",
                                       "CHOOSE(1 + MOD(i, 3), n, t, b)",
                                       "0.1 * 3 = 0.3",
                                       "n * 0.1 * 10 = n",
                                       "#2 + [i]",
                                       "1 / 0",
                                       "\"c\"",
                                       "ISBLANK(e)",
                                       "IF(ISERROR(m), \"bad\", m)",
                                       "m & \"!\"",
                                       "d & \"\"",
                                       "+t",
                                       "1e-200 * n * 1e-200"}) {
    CAPTURE(expression);
    const Pipeline pipeline = parse_pipeline("derive r = " + expression);
    const auto& derive = std::get<Derive>(pipeline.stages[0].content);
    const std::vector<NamedValue> values;
    const Column column = evaluate(derive.columns[0].value, {table, values}, workers);
    REQUIRE(column.rows() == table.rows());
    formula::Context context;
    std::size_t row = 0;
    context.resolve_name = [&](const formula::Name& name) -> std::optional<formula::Value> {
      return table.column(column_place(name, {}, table), workers).value(row);
    };
    std::size_t wrong = 0;
    for (; row < table.rows(); ++row) {
      const formula::Value expected = formula::evaluate(derive.columns[0].value.tree, context), got = column.value(row);
      const bool same =
          expected.type() == got.type() &&
          (!expected.is_number() || (expected.number() == got.number() && expected.kind() == got.kind())) &&
          (!expected.is_text() || expected.text() == got.text()) &&
          (!expected.is_boolean() || expected.boolean() == got.boolean()) &&
          (!expected.is_error() || expected.error() == got.error());
      wrong += !same;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("quick aggregates agree with the formula library, on one thread and on three") {
  const std::string csv = many_rows(150'000);  // enough for several parts of the rows
  for (const std::string keys : {"t", "t, u, b", "i", "m", "n", "d, t"}) {
    CAPTURE(keys);
    const std::string pipeline = "group " + keys +
                                 " (s = SUM(n), c = COUNT(n), a = COUNTA(n), r = COUNT(), m1 = MIN(n), m2 = MAX(d), md "
                                 "= MEDIAN(n), sd = STDEV(n), co = CORREL(n, i), l = LARGE(n, 1), w = SUM(n where b))";
    const Ran ran = run(pipeline, csv);
    CHECK(ran.csv.find("differ") == std::string::npos);
    CHECK(std::count(ran.csv.begin(), ran.csv.end(), '\n') > 4);
  }
  // Each group's own rows alone must give the group's values; mixed columns go to the library for all of it.
  const std::string mixed =
      "derive x = IF(i >= 0, n, \"t\") | group t (s = SUM(x), c = COUNT(x), a = AVERAGE(x), lo = MIN(x), hi = MAX(x), "
      "md = MEDIAN(x), sp = STDEV.P(x), v = VAR(x), k = LARGE(x, 2), r = RSQ(x, i))";
  const std::string plain =
      "group t (s = SUM(n), c = COUNT(n), a = AVERAGE(n), lo = MIN(n), hi = MAX(n), md = MEDIAN(n), sp = STDEV.P(n), v "
      "= VAR(n), k = LARGE(n, 2), r = ROUND(RSQ(n, i), 12))";
  const auto short_of = [&](std::string pipeline) {
    return pipeline +
           " | select t, s = ROUND(s, 6), c, a = ROUND(a, 9), lo, hi, md = ROUND(md, 9), sp = ROUND(sp, 9), v = "
           "ROUND(v, 6), k, r = ROUND(r, 9)";
  };
  CHECK(run(short_of(mixed), many_rows(4000)).csv == run(short_of(plain), many_rows(4000)).csv);
}

TEST_CASE("any function may stand around aggregates") {
  CHECK(run("group g (a = ROUND(AVERAGE(v), 1), b = TEXT(SUM(v), \"0.00\") & g, c = IFERROR(1 / COUNT(v where v > 9), \"none\"), d = MAX(SUM(v), 4))",
            "g,v\nx,1\nx,2\ny,0.25\n")
            .csv == "g,a,b,c,d\nx,1.5,3.00x,none,4\ny,0.3,0.25y,none,4\n");
  CHECK(run("window per g (p = ROUND(v / SUM(v), 2))", "g,v\nx,1\nx,2\n").csv == "g,v,p\nx,1,0.33\nx,2,0.67\n");
}

TEST_CASE("sums lose nothing to rounding, in any number of parts") {
  std::string csv = "g,v\n";
  for (int i = 0; i < 100'000; ++i)
    csv += "a," + std::string(i % 3 == 0 ? "1e+16" : i % 3 == 1 ? "1" : "-1e+16") + "\n";
  csv += "a,-1e+16\n";
  CHECK(run("group g (s = SUM(v))", csv).csv == "g,s\na,33333\n");
}

TEST_CASE("an empty cell is neither 0 nor an empty text, and is a key of its own") {
  const std::string csv = "k,v\n,1\n0,2\n\"\",4\n,8\n";
  CHECK(run("group k (s = SUM(v))", csv).csv == "k,s\n,9\n0,2\n\"\",4\n");
  CHECK(run("filter k = 0", csv).csv == "k,v\n,1\n0,2\n,8\n");
  CHECK(run("join t on k", csv, {{"t", "k,w\n0,x\n,y\n"}}).csv == "k,v,w\n0,2,x\n");
  CHECK(run("sort -k", "k\n1\n\n2\n").csv == "k\n2\n1\n\n");
}

TEST_CASE("tables without rows or columns pass every stage") {
  for (const std::string stage : {"select a",
                                  "rename c = a",
                                  "derive c = a + 1",
                                  "filter a > 1",
                                  "sort -a",
                                  "take 3",
                                  "take 50%",
                                  "take 1 per a by b",
                                  "skip 1",
                                  "sample 5",
                                  "distinct",
                                  "distinct a",
                                  "group a (s = SUM(b))",
                                  "group cube a, b (n = COUNT())",
                                  "join t on a",
                                  "join full t on a",
                                  "join cross t",
                                  "append t",
                                  "union t",
                                  "window per a sort b (s = SUM(b), r = RANK())",
                                  "pivot a by b (SUM(b))",
                                  "unpivot a into k, v",
                                  "fill down a",
                                  "fill a = 0",
                                  "fill interpolate a",
                                  "describe",
                                  "assert a > 1",
                                  "let x = 1",
                                  "except t",
                                  "intersect t"}) {
    CAPTURE(stage);
    CHECK(mistake(stage, "a,b\n", {{"t", "a,b\n"}}) == "");
  }
  CHECK(run("group (n = COUNT(), s = SUM(a), x = AVERAGE(a))", "a\n").csv == "n,s,x\n0,0,#DIV/0!\n");
  CHECK(mistake("take 3", "") == "");
  CHECK(mistake("select a", "") == "There is no column `a`. The table has no columns.");
}

TEST_CASE("joins keep the order and refuse what nobody can hold") {
  const std::map<std::string, std::string> t = {{"t", "k,w\nB,1\nb,2\nc,3\n"}};
  CHECK(run("join t on k", "k,v\na,1\nb,2\nB,3\n", t).csv == "k,v,w\nb,2,1\nb,2,2\nB,3,1\nB,3,2\n");
  CHECK(run("join right t on k", "k,v\na,1\nb,2\n", t).csv == "k,v,w\nb,2,1\nb,2,2\nc,,3\n");
  CHECK(run("join full t on k", "k,v\na,1\n", t).csv == "k,v,w\na,1,\nB,,1\nb,,2\nc,,3\n");
  CHECK(run("join semi t on k", "k,v\na,1\nb,2\n", t).csv == "k,v\nb,2\n");
  CHECK(run("join anti t on k", "k,v\na,1\nb,2\n", t).csv == "k,v\na,1\n");
  CHECK(run("join t on a = k, b = w", "a,b\nb,2\nb,1\nb,7\n", t).csv == "a,b\nb,2\nb,1\n");
  std::string many = "k\n";
  for (int i = 0; i < 20'000; ++i) many += "x\n";
  RunOptions options;
  options.most_rows = 1000;
  CHECK(mistake("join m on k", many, {{"m", many}}, options) ==
        "This join would make 400,000,000 rows, more than the 1000 that are allowed. Join on further columns, or "
        "filter or group one side first.");
  CHECK(mistake("join cross m", many, {{"m", many}}, options).find("400,000,000") != std::string::npos);
}

TEST_CASE("a key with an empty cell or an error matches nothing") {
  const std::map<std::string, std::string> t = {{"t", "k,j,w\n,1,x\n2,1,y\n#N/A,1,z\n2,,q\n"}};
  const std::string csv = "k,j,v\n,1,a\n2,1,b\n#N/A,1,c\n2,,d\n";
  CHECK(run("join t on k, j", csv, t).csv == "k,j,v,w\n2,1,b,y\n");
  CHECK(run("join t on k | select k, v, w", csv, t).csv == "k,v,w\n2,b,y\n2,b,q\n2,d,y\n2,d,q\n");
  CHECK(run("join anti t on k, j | select v", csv, t).csv == "v\na\nc\nd\n");
}

TEST_CASE("mistakes say what is wrong and what is near") {
  const std::string csv = "region,amount,text\nEU,1,x\n";
  const std::pair<std::string, std::string> cases[] = {
      {"", "The pipeline is empty"},
      {"|", "Expected a stage"},
      {"take 1 |", "Expected a stage behind `|`"},
      {"take", "Expected a number of rows"},
      {"take 1.5", "whole number"},
      {"take 101%", "at most 100%"},
      {"filter", "Expected a value"},
      {"filter amont > 1", "Did you mean `amount`?"},
      {"derive x", "Expected a name and `=`"},
      {"derive x = SUMM(amount, 1)", "Did you mean `SUM`?"},
      {"derive x = #9", "There is no column #9; the table has 3 columns."},
      {"group region (SUM(amount)", "Expected `,` or `)`"},
      {"group region (x = amount)", "no key or aggregate `amount`"},
      {"group region (x = LAG(amount))", "There is no function `LAG`"},
      {"join t", "Expected `on`"},
      {"join asof t on region", "An as-of join needs one key with an order"},
      {"join t on region", "There is no table `t`"},
      {"split region", "Expected `by`"},
      {"rename a = region, a = amount", "two columns `a`"},
      {"select \"z*\"", "No column's name matches"},
      {"window (r = RANK())", "RANK needs an order"},
      {"window sort amount rows 3 to 1 (r = SUM(amount))", "ends ahead of its begin"},
      {"let a = (append a) | from a", "`a` is made from itself"},
      {"derive x = 1 where 2", "Expected `|`"},
      {"join u on region = n", "is text, `n` of the other table is number"},
      {"intersect u", "Both tables need the same columns"},
      {"unpivot amount into region, v", "two columns `region`"},
  };
  for (const auto& one : cases) {  // clang 14 takes no names of a pair into CAPTURE
    const auto& pipeline = one.first;
    const auto& part = one.second;
    CAPTURE(pipeline);
    const std::string sentence = mistake(pipeline, csv, {{"u", "n\n1\n"}});
    CAPTURE(sentence);
    CHECK(sentence.find(part) != std::string::npos);
  }
  try {
    parse_pipeline("take 1\nfilter x >");
    FAIL("no mistake");
  } catch (const formula::SyntaxError& error) {
    CHECK(error.offset() == 17);
  }
}

TEST_CASE("errors of cells stay in their cells; a filter says what it left out") {
  const Ran ran = run("derive q = 1 / v | filter q > 0", "v\n1\n0\n2\n");
  CHECK(ran.csv == "v,q\n1,1\n2,0.5\n");
  REQUIRE(ran.notes.size() == 1);
  CHECK(ran.notes[0] == "`q > 0` is an error in 1 row, which the filter leaves out; the first is row 2: #DIV/0!.");
  CHECK(run("group (s = SUM(q), c = COUNT(q), m = MEDIAN(q))", "q\n1\n#N/A\n2\n").csv == "s,c,m\n#N/A,2,#N/A\n");
}

TEST_CASE("a cancelled run ends") {
  std::atomic<bool> cancel = true;
  Workers workers(2, &cancel);
  const Pipeline pipeline = parse_pipeline("sort a");
  CHECK_THROWS_AS(run_pipeline(pipeline, "sort a", Table(), {}, workers), Cancelled);
}
