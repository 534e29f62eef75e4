#include <doctest/doctest.h>

#include <algorithm>

#include "excel-addin/table/csv_text.h"
#include "excel-addin/table/table_error.h"
#include "tests/unit/excel-addin/table/tables.h"

using namespace glmhost::table;

namespace {

struct Read {
  std::string csv, types;
  std::vector<std::string> notes;
  bool notes_say(std::string_view part) const {
    return std::any_of(notes.begin(), notes.end(),
                       [&](const std::string& note) { return note.find(part) != std::string::npos; });
  }
};

Read read(std::string_view bytes, const CsvOptions& options = {}) {
  Workers workers(2);
  CsvResult result = read_csv(bytes, options, workers);
  Read out{csv_of(result.table, workers), "", std::move(result.notes)};
  for (std::size_t i = 0; i < result.table.width(); ++i) {
    const Column& column = result.table.column(i, workers);
    const bool date = column.type() == ColumnType::number && column.kind() != glmhost::formula::NumberKind::plain;
    out.types += date ? 'd' : "-ntbm"[static_cast<int>(column.type())];
  }
  return out;
}

}  // namespace

TEST_CASE("plain tables come back as they were") {
  for (const std::string_view text : {
           "a,b\n1,x\n2.5,y\n",
           "a,b\n\"x, y\",\"say \"\"hi\"\"\"\n\"two\nlines\",z\n",
           "n,t,b,d,e\n-1.5,a,TRUE,2026-01-31,#N/A\n,,,,\n1e+300,\"\",FALSE,1999-12-31,#DIV/0!\n",
           "when\n2026-01-31 12:30:00\n2026-02-01 00:00:00\n",
       }) {
    CAPTURE(text);
    CHECK(read(text).csv == text);
  }
  CHECK(read("n,t,b,d,e\n-1.5,a,TRUE,2026-01-31,#N/A\n").types == "ntbdm");
}

TEST_CASE("nothing that a number would alter becomes a number") {
  for (const std::string_view cell : {"00123", "12345678901234567", "1-2", "+491234", "1E5", "5.", "1,2,3", "0x10",
                                      "1_000", "NaN", "inf", "--1", "007.5", "1e999"}) {
    CAPTURE(cell);
    const std::string text = "id,n\n\"" + std::string(cell) + "\",1\n";
    const Read result = read(text);
    CHECK(result.types == "tn");
    CHECK(result.csv.find(cell) != std::string::npos);
  }
  // One such cell far behind the first thousand makes its whole column text, as it was written.
  std::string text = "id\n";
  for (int i = 0; i < 200'000; ++i) text += std::to_string(1000 + i) + ".50\n";
  const std::string numeric = text;
  text += "00123\n";
  CHECK(read(text).csv == text);
  CHECK(read(text).types == "t");
  CHECK(read(numeric).types == "n");
}

TEST_CASE("an almost numeric column says which cell is no number") {
  const Read result = read("v\n1\n2\nn/a\n4\n");
  CHECK(result.types == "m");
  CHECK(result.csv == "v\n1\n2\nn/a\n4\n");
  CHECK(result.notes_say("first in row 3: \"n/a\""));
}

TEST_CASE("encodings") {
  const std::string plain = "näme,b\nÄ,1\n";
  CHECK(read("\xEF\xBB\xBF" + plain).csv == plain);
  std::string little = "\xFF\xFE", big = "\xFE\xFF";
  for (const char16_t unit : std::u16string_view(u"näme,b\nÄ,1\n")) {
    little += {static_cast<char>(unit & 0xFF), static_cast<char>(unit >> 8)};
    big += {static_cast<char>(unit >> 8), static_cast<char>(unit & 0xFF)};
  }
  CHECK(read(little).csv == plain);
  CHECK(read(big).csv == plain);
  const Read windows = read("n\xE4me,b\n\xC4,1\n\x80,2\n");
  CHECK(windows.csv == "näme,b\nÄ,1\n€,2\n");
  CHECK(windows.notes_say("Windows-1252"));
}

TEST_CASE("delimiters, decimal commas, line ends") {
  CHECK(read("a;b\n1,5;x\n1.234,25;y\n").csv == "a,b\n1.5,x\n1234.25,y\n");
  CHECK(read("a;b\n1,5;x\n").notes_say("decimal commas"));
  CHECK(read("a\tb\n1.5\tx,y\n").csv == "a,b\n1.5,\"x,y\"\n");
  CHECK(read("a|b\r\n1|2\r\n").csv == "a,b\n1,2\n");
  CHECK(read("a,b\r1,2\r").csv == "a,b\n1,2\n");
  CHECK(read("a,b\n1,2").csv == "a,b\n1,2\n");
  const Read grouped = read("a,b\n\"1,234.50\",x\n");
  CHECK(grouped.csv == "a,b\n1234.5,x\n");
  CHECK(grouped.notes_say("thousands"));
}

TEST_CASE("dates in one order are dates, in several text") {
  CHECK(read("d\n31/01/2026\n01/02/2026\n").csv == "d\n2026-01-31\n2026-02-01\n");
  CHECK(read("d\n01/31/2026\n02/01/2026\n").csv == "d\n2026-01-31\n2026-02-01\n");
  CHECK(read("d\n31.01.2026\n\n01.02.2026\n").csv == "d\n2026-01-31\n\n2026-02-01\n");
  for (const std::string_view text :
       {"d\n01/02/2026\n03/04/2026\n", "d\n31/01/2026\n01/31/2026\n2026-01-31\n", "d\n31/01/2026\n12/31/2026\n"}) {
    CAPTURE(text);
    CHECK(read(text).csv == text);
    CHECK(read(text).types == "t");
  }
  CHECK(read("d\n01/02/2026\n03/04/2026\n").notes_say("do not show"));
  CHECK(read("d\n2026-02-30\n").types == "t");
}

TEST_CASE("headers as they come") {
  CHECK(read("a,a,A\n1,2,3\n").csv == "a,a_2,A_3\n1,2,3\n");
  CHECK(read("a,a\n1,2\n").notes_say("more than once"));
  CHECK(read("Order Date,\"he said \"\"x\"\"\",顧客,😀,\"two\nlines\"\n1,2,3,4,5\n").csv ==
        "Order Date,\"he said \"\"x\"\"\",顧客,😀,\"two\nlines\"\n1,2,3,4,5\n");
  CHECK(read("1,2\n3,4\n").csv == "Column1,Column2\n1,2\n3,4\n");
  CHECK(read("region,,\nEU,1,2\n").csv == "region,Column2,Column3\nEU,1,2\n");
  CHECK(read("a,b\n1,2\n", {.header = false}).csv == "Column1,Column2\na,b\n1,2\n");
}

TEST_CASE("ragged rows, stray and open quotes") {
  const Read ragged = read("a,b\n1\n1,2,3\n");
  CHECK(ragged.csv == "a,b,Column3\n1,,\n1,2,3\n");
  CHECK(ragged.notes_say("1 row has fewer fields"));
  CHECK(ragged.notes_say("1 row has more fields"));
  CHECK(read("a,b\n5\" pipe,1\n6\" pipe,2\n").csv == "a,b\n\"5\"\" pipe\",1\n\"6\"\" pipe\",2\n");
  CHECK(read("a,b\n\"x\"y,1\n").csv == "a,b\n\"\"\"x\"\"y\",1\n");
  const Read open = read("a,b\n1,\"never closed\n2,3\n");
  CHECK(open.csv == "a,b\n1,\"never closed\n2,3\n\"\n");
  CHECK(open.notes_say("closing quote"));
}

TEST_CASE("nothing at all") {
  for (const std::string_view text : {"", "\n", "\n\n\r\n", "\xEF\xBB\xBF"}) CHECK(read(text).csv == "\n");
  CHECK(read("a,b\n").csv == "a,b\n");
  CHECK(read("a,b").csv == "a,b\n");
  CHECK(read("a,\"b").csv == "a,b\n");  // the quote is never closed
}

TEST_CASE("what is no table is refused before it takes all memory") {
  std::string program(
      "\x7F"
      "ELF");
  for (int i = 0; i < 5000; ++i) program += std::string("\0\0a", 3);
  CHECK_THROWS_WITH_AS(read(program), doctest::Contains("not text"), TableError);
  CHECK_THROWS_WITH_AS(read("a\n1\n" + std::string(20'000, ',') + "\n"), doctest::Contains("16384 columns"),
                       TableError);
  const std::string one_zero = "a,b\nx" + std::string(1, '\0') + "y,1\n" + std::string(200, 'z') + ",2\n";
  CHECK(read(one_zero).csv == one_zero);
}

TEST_CASE("a file cut into many pieces is the same table") {
  std::string text = "id,t,v\n";
  for (int i = 0; i < 120'000; ++i) {
    text += std::to_string(i) +
            (i % 7 == 0 ? ",\"two\nlines, " + std::to_string(i % 100) + "\"," : ",t" + std::to_string(i % 1000) + ",");
    text += i % 11 == 0 ? "\n" : std::to_string(i % 13) + ".25\n";
  }
  REQUIRE(cut_rows(text, 1 << 20).size() > 2);
  CHECK(read(text).csv == text);
  // A stray quote in it leads to reading it in one piece.
  text += "x,5\" pipe,1\n";
  const Read stray = read(text);
  CHECK(stray.notes_say("where none belongs"));
  CHECK(std::count(stray.csv.begin(), stray.csv.end(), '\n') == std::count(text.begin(), text.end(), '\n'));
}
