// Stages that add rows or columns: joins by inequality, as-of and fuzzy, range frames, split, combine, complete.
#include <doctest/doctest.h>

#include <random>

#include "excel-addin/table/text_similarity.h"
#include "tests/unit/excel-addin/table/tables.h"

using namespace glmhost::table;

namespace {

const std::map<std::string, std::string> kQuotes = {
    {"quotes", "sym,at,price\na,1,10\nb,2,20\na,3,30\na,3,31\n,4,40\na,#N/A,50\nb,x,60\n"}};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The distance by its definition.
std::size_t distance(const std::u32string& a, const std::u32string& b, std::size_t i, std::size_t j) {
  if (i == a.size()) return b.size() - j;
  if (j == b.size()) return a.size() - i;
  if (a[i] == b[j]) return distance(a, b, i + 1, j + 1);
  return 1 + std::min({distance(a, b, i + 1, j), distance(a, b, i, j + 1), distance(a, b, i + 1, j + 1)});
}

}  // namespace

TEST_CASE("an as-of join takes the nearest partner; of equal ones the last from below, the first from above") {
  const std::string trades = "sym,time\na,0\na,1\na,2\na,3\na,9\nb,5\n,5\nz,5\na,\n";
  CHECK(run("join asof left quotes on sym, time >= at | select sym, time, price", trades, kQuotes).csv ==
        "sym,time,price\na,0,\na,1,10\na,2,10\na,3,31\na,9,31\nb,5,20\n,5,\nz,5,\na,,\n");
  CHECK(run("join asof quotes on sym, time > at | select sym, time, price", trades, kQuotes).csv ==
        "sym,time,price\na,2,10\na,3,10\na,9,31\nb,5,20\n");
  CHECK(run("join asof quotes on sym, time <= at | select sym, time, price", trades, kQuotes).csv ==
        "sym,time,price\na,0,10\na,1,10\na,2,30\na,3,30\n");
  CHECK(run("join asof anti quotes on sym, time >= at | select sym, time", trades, kQuotes).csv ==
        "sym,time\na,0\n,5\nz,5\na,\n");
  CHECK(run("join asof full quotes on sym, time >= at | skip 9 | select sym, at, price", trades, kQuotes).csv ==
        "sym,at,price\na,3,30\n,4,40\na,#N/A,50\nb,x,60\n");
}

TEST_CASE("a join by inequality gives the pairs for which all conditions hold, in the tables' order") {
  const std::string left = "l,x\n1,5\n2,1\n3,\n4,9\n";
  const std::map<std::string, std::string> spans = {{"s", "lo,hi,n\n4,6,a\n0,9,b\n9,9,c\n,9,d\n"}};
  CHECK(run("join s on x >= lo, x <= hi | select l, n", left, spans).csv == "l,n\n1,a\n1,b\n2,b\n4,b\n4,c\n");
  CHECK(run("join left s on x > hi and x <> lo | select l, n", left, spans).csv == "l,n\n1,\n2,\n3,\n4,a\n");
  CHECK(run("join full s on x < lo | select l, n", left, spans).csv == "l,n\n1,c\n2,a\n2,c\n3,\n4,\n,b\n,d\n");
  CHECK(run("join s on l >= lo, x >= hi | select l, n", "l,x\n5,\n6,9\n", {{"s", "lo,hi,n\n4,,a\n4,9,b\n"}}).csv ==
        "l,n\n6,b\n");
  CHECK(run("join semi s on x <> lo | select l", left, spans).csv == "l\n1\n2\n4\n");
  CHECK(run("join anti s on x <= hi, x >= lo | select l", left, spans).csv == "l\n3\n");
  RunOptions few;
  few.most_rows = 5;
  CHECK(contains(mistake("join s on x <> lo", left, spans, few), "more than the 5"));
  CHECK(contains(mistake("join s on x <= hi", left, spans, few), "would make 11 rows, more than the 5"));
  CHECK(contains(mistake("join s on x < n", left, spans), "cannot match"));
}

TEST_CASE("texts are as alike as the definition of the distance says") {
  std::mt19937 random(3);
  const std::u32string letters = U"abÄ€z";
  for (int round = 0; round < 300; ++round) {
    std::u32string one, two;
    for (std::size_t i = random() % 7; i > 0; --i) one += letters[random() % letters.size()];
    for (std::size_t i = random() % 7; i > 0; --i) two += letters[random() % letters.size()];
    const std::size_t longer = std::max(one.size(), two.size());
    const double expected =
        longer == 0 ? 1 : 1 - static_cast<double>(distance(one, two, 0, 0)) / static_cast<double>(longer);
    CHECK(Similarity(one).to(two, 0) == expected);
    // The long way round, for texts of more than a word.
    const std::u32string tail(70, U'x');
    const double long_expected = 1 - static_cast<double>(distance(one, two, 0, 0)) / static_cast<double>(longer + 70);
    CHECK(Similarity(one + tail).to(two + tail, 0) == doctest::Approx(long_expected));
    CHECK(Similarity(one).to(two, 0.6) == (expected < 0.6 ? 0 : expected));
  }
  const std::u32string full(64, U'q');
  CHECK(Similarity(full).to(full.substr(1), 0) == 1 - 1.0 / 64);
  CHECK(folded_for_similarity("  Ä  b\t\nC ") == U"ä b c");
}

TEST_CASE("a fuzzy join takes the most alike partner that agrees in the other keys") {
  const std::map<std::string, std::string> firms = {
      {"firms", "firm,land,no\nAcme Inc,US,1\nACME  inc.,DE,2\nAcme Inc,US,3\nZeta,US,4\n,US,5\n12,US,6\n"}};
  const std::string left = "name,land\nacme inc,US\nacme inc.,DE\nZetta,US\nother,US\n,US\n";
  CHECK(run("join fuzzy left firms on name = firm, land | select name, no, score", left, firms).csv ==
        "name,no,score\nacme inc,1,1\nacme inc.,2,1\nZetta,4,0.8\nother,,\n,,\n");
  CHECK(run("join fuzzy firms on name = firm score 0.9 | select name, no", left, firms).csv ==
        "name,no\nacme inc,1\nacme inc.,2\n");
  CHECK(run("join fuzzy right firms on name = firm, land score 1 | select no, score", left, firms).csv ==
        "no,score\n1,1\n2,1\n3,\n4,\n5,\n6,\n");
  CHECK(contains(mistake("join fuzzy firms on name < firm", left, firms), "A fuzzy join takes"));
  CHECK(contains(mistake("join fuzzy firms on name = firm score 2", left, firms), "from 0"));
}

TEST_CASE("a frame by range holds the rows with near keys") {
  const std::string table = "k,v\n1,1\n1,2\n3,4\n10,8\n,16\n,32\nx,64\n";
  CHECK(run("window sort k range -2 to 0 (s = SUM(v)) | select k, s", table).csv ==
        "k,s\n1,3\n1,3\n3,7\n10,8\n,48\n,48\nx,64\n");
  CHECK(run("window sort -k range -2 to 0 (s = SUM(v)) | select k, s", table).csv ==
        "k,s\n1,7\n1,7\n3,4\n10,8\n,48\n,48\nx,64\n");
  CHECK(run("window sort k range 1 to end (s = SUM(v)) | select k, s | take 4", table).csv ==
        "k,s\n1,124\n1,124\n3,120\n10,112\n");
  CHECK(run("window sort k range start to -2 (n = COUNT()) | select k, n | take 4", table).csv ==
        "k,n\n1,0\n1,0\n3,2\n10,3\n");
  CHECK(contains(mistake("window sort k range 2 to 1 (n = COUNT())", table), "ends ahead"));
}

TEST_CASE("split loses nothing of a text") {
  const std::string table = "id,t\n1,\"a,b,,c\"\n2,\n3,7\n4,\"\"\n5,#N/A\n6,\"x,\"\n";
  CHECK(run("split t by \",\"", table).csv == "id,t\n1,a\n1,b\n1,\"\"\n1,c\n2,\n3,7\n4,\"\"\n5,#N/A\n6,x\n6,\"\"\n");
  CHECK(run("split t by \",\" into p, q", table).csv ==
        "id,p,q\n1,a,\"b,,c\"\n2,,\n3,7,\n4,\"\",\n5,#N/A,\n6,x,\"\"\n");
  CHECK(run("take 1 | split t by \",\" to columns | combine t_1, t_2, t_3, t_4 into t by \",\"", table).csv ==
        "id,t\n1,\"a,b,,c\"\n");
  CHECK(run("take 1 | split t by regex \",+\"", table).csv == "id,t\n1,a\n1,b\n1,c\n");
  CHECK(run("derive u = \"äb€\" | take 1 | select u | split u by regex \"\"", table).csv == "u\nä\nb\n€\n");
  CHECK(run("derive u = \"a1b\" | take 1 | select u | split u by regex \"x*\"", table).csv == "u\na\n1\nb\n");
  CHECK(contains(mistake("split t by \",\" into id, p", table), "two columns `id`"));
  CHECK(contains(mistake("split t by \"\"", table), "nothing to split at"));
  CHECK(contains(mistake("select u = REPT(\"a\", 30) & \"b\" | split u by regex \"(a+)+$\"", table), "too many steps"));
  CHECK(contains(mistake("combine t into id", table), "two columns `id`"));
}

TEST_CASE("complete adds what is missing, keeps every row, and knows its limit") {
  const std::string table = "g,d,v\nb,2,1\na,1,2\na,1,3\n,1,4\nb,#N/A,5\n";
  CHECK(run("complete g, d", table).csv == "g,d,v\na,1,2\na,1,3\na,2,\nb,1,\nb,2,1\n,1,4\nb,#N/A,5\n");
  CHECK(run("filter v < 4 | complete d every 0.5 per g", table).csv == "g,d,v\nb,2,1\na,1,2\na,1,3\n");
  CHECK(run("complete x every 0.1", "x\n0\n0.3\n").csv == "x\n0\n0.1\n0.2\n0.3\n");
  CHECK(run("complete x every month", "x\n2026-01-31\n2026-04-30\n").csv ==
        "x\n2026-01-31\n2026-02-28\n2026-03-31\n2026-04-30\n");
  CHECK(run("complete x every 2 weeks | take 2", "x\n2026-01-31\n2026-04-30\n").csv == "x\n2026-01-31\n2026-02-14\n");
  CHECK(run("complete x every year", "x\n2024-02-29\n2027-12-31\n").csv ==
        "x\n2024-02-29\n2025-02-28\n2026-02-28\n2027-02-28\n2027-12-31\n");
  RunOptions few;
  few.most_rows = 8;
  CHECK(contains(mistake("complete g, d, v", table, {}, few), "would make up to 25 rows, more than the 8"));
  CHECK(contains(mistake("complete v every 0.001", table, {}, few), "Take a larger step"));
  CHECK(contains(mistake("complete g, g", table), "stands twice"));
  CHECK(contains(mistake("complete v every 0 days", table), "A step is above 0"));
}

TEST_CASE("totals of a pivot come from the rows") {
  const std::string table = "r,c,v\nx,p,1\nx,p,3\nx,q,8\ny,p,5\n";
  CHECK(run("pivot totals r by c (AVERAGE(v))", table).csv == "r,p,q,Total\nx,2,8,4\ny,5,,5\n,3,8,4.25\n");
}

TEST_CASE("work ends with the numbers where memory would") {
  Workers workers(2);
  std::uint64_t used = 900;
  workers.set_memory_limit({1000, [&] { return used; }});
  workers.require_memory(100, "This takes");
  CHECK_THROWS_WITH_AS(
      workers.require_memory(200e6, "This takes"),
      doctest::Contains("This takes about 191 MiB of memory beside the 1 MiB in use; 1 MiB are allowed"), TableError);
  std::string wide = "a\n";
  for (int i = 0; i < 1000; ++i) wide += "1\n";
  const Table table = read_csv(wide, {}, workers).table;
  const auto fails = [&](std::string_view source) {
    CHECK_THROWS_AS(run_pipeline(parse_pipeline(source), source, table, {}, workers), TableError);
  };
  fails("sort a");
  fails("join cross (take 100%)");
  CHECK_NOTHROW(run_pipeline(parse_pipeline("take 5"), "take 5", table.slice(0, 6, workers), {}, workers));
}
