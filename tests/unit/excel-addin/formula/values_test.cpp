// Cells, dates, text units, limits: what a text of cases cannot say.
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "excel-addin/formula/calendar.h"
#include "excel-addin/formula/cell_address.h"
#include "excel-addin/formula/evaluator.h"
#include "excel-addin/formula/parser.h"
#include "excel-addin/formula/text_units.h"
#include "excel-addin/formula/wildcard.h"

namespace glmhost::formula {
namespace {

// A sheet of which A1:C3 are filled: 1, "x", TRUE / empty, "", 5 / "7", #N/A, 2.
Value sheet(const Area& area) {
  static const std::vector<std::vector<Value>> kCells = {{Value(1.0), Value("x"), Value(true)},
                                                         {Value(), Value(""), Value(5.0)},
                                                         {Value("7"), Value(ErrorCode::not_available), Value(2.0)}};
  const std::uint32_t last_row = std::min<std::uint32_t>(area.last_row, std::max<std::uint32_t>(area.first_row, 2));
  Array array(last_row - area.first_row + 1, area.columns());
  for (std::size_t row = 0; row < array.rows(); ++row) {
    for (std::size_t column = 0; column < array.columns(); ++column) {
      const std::size_t r = area.first_row + row, c = area.first_column + column;
      if (r < 3 && c < 3) array(row, column) = kCells[r][c];
    }
  }
  array.set_area(area);
  return Value(std::move(array));
}

Value value_of(const std::string& source) {
  Context context;
  context.read_cells = sheet;
  context.own_cell = Area{4, 1, 4, 1, {}};
  context.now = [] { return 45301.75; };
  context.random.seed(7);
  context.most_cells = 1'000'000;
  return evaluate(parse(source), context);
}

}  // namespace

TEST_CASE("cells keep what they are") {
  CHECK(value_of("SUM(A1:C1)").number() == 1);          // text and booleans of cells are left out
  CHECK(value_of("SUM(A1,\"2\",TRUE)").number() == 4);  // direct arguments count
  CHECK(value_of("SUM(A3)").number() == 0);
  CHECK(value_of("A3+1").number() == 8);
  CHECK(value_of("COUNT(A1:C2)").number() == 2);
  CHECK(value_of("COUNTA(A1:C3)").number() == 8);
  CHECK(value_of("COUNTBLANK(A1:C2)").number() == 2);
  CHECK(value_of("ISBLANK(A2)").boolean());
  CHECK_FALSE(value_of("ISBLANK(B2)").boolean());
  CHECK(value_of("A2=0").boolean());
  CHECK(value_of("A2=\"\"").boolean());
  CHECK_FALSE(value_of("B2=0").boolean());
  CHECK(value_of("A2").is_empty());
  CHECK(value_of("SUM(A:A)").number() == 1);
  CHECK(value_of("SUM(C1:C3)").number() == 7);
  CHECK(value_of("SUM(B1:B3)").error() == ErrorCode::not_available);
  CHECK(value_of("ROWS(A:A)").number() == kMostRows);
  CHECK(value_of("COLUMN(C2)").number() == 3);
  CHECK(value_of("ROW()").number() == 5);
  CHECK(value_of("SUMIF(C1:C3,\">1\")").number() == 7);
  CHECK(value_of("SUMIF(A1:A2,1,C2)").number() == 5);  // the third argument tells only where it begins
  CHECK(value_of("SUM(INDEX(A1:C3,0,3))").number() == 7);
  CHECK(value_of("ISREF(INDEX(A1:C3,1,1))").boolean());
  CHECK_FALSE(value_of("ISREF(1)").boolean());
  CHECK(value_of("'my sheet'!$A$1").number() == 1);
}

TEST_CASE("without a reader of cells they are #REF!") {
  Context context;
  CHECK(evaluate(parse("A1"), context).error() == ErrorCode::reference);
}

TEST_CASE("dates remember that they are dates") {
  CHECK(value_of("TODAY()").kind() == NumberKind::date);
  CHECK(value_of("TODAY()").number() == 45301);
  CHECK(value_of("NOW()").kind() == NumberKind::date_time);
  CHECK(value_of("DATE(2024,1,1)+7").kind() == NumberKind::date);
  CHECK(value_of("7+DATE(2024,1,1)").kind() == NumberKind::date);
  CHECK(value_of("DATE(2024,1,8)-DATE(2024,1,1)").kind() == NumberKind::plain);
  CHECK(value_of("DATE(2024,1,1)+TIME(6,0,0)").kind() == NumberKind::date_time);
  CHECK(value_of("DATE(2024,1,1)*1").kind() == NumberKind::plain);
  CHECK(value_of("EDATE(DATE(2024,1,31),1)").kind() == NumberKind::date);
}

TEST_CASE("every day of the calendar is a serial and back") {
  Date date{1900, 1, 1};
  for (std::int64_t serial = 1; serial <= static_cast<std::int64_t>(kLastSerial); ++serial) {
    if (serial == 60) continue;
    REQUIRE(date_of(serial) == date);
    REQUIRE(serial_of(date) == serial);
    if (++date.day > days_in_month(date.year, date.month)) {
      date.day = 1;
      if (++date.month > 12) {
        date.month = 1;
        ++date.year;
      }
    }
  }
  CHECK(date == Date{10000, 1, 1});
  CHECK(date_of(60) == Date{1900, 2, 29});
  CHECK(serial_of({1900, 2, 29}) == 60);
  CHECK(weekday_of(45301) == 4);  // Wednesday, 2024-01-10
}

TEST_CASE("text is counted in UTF-16 units") {
  CHECK(length_in_units("a😀é") == 4);
  CHECK(slice_units("a😀é", 0, 1) == "a");
  CHECK(slice_units("a😀é", 1, 2) == "😀");
  const std::string first = slice_units("😀", 0, 1), second = slice_units("😀", 1, 1);
  CHECK(valid_utf8(first) == "\xEF\xBF\xBD");
  CHECK(joined(first, second) == "😀");
  CHECK(valid_utf8("a\xff") == "a\xEF\xBF\xBD");
  CHECK(from_utf16(to_utf16("日本 €")) == "日本 €");
}

TEST_CASE("text sorts signs, digits, letters, without case") {
  const std::vector<std::string> sorted = {"", " a", "!", "_x", "1", "2", "a", "B", "é", "f", "Z"};
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    for (std::size_t k = 0; k < sorted.size(); ++k) {
      CAPTURE(sorted[i]);
      CAPTURE(sorted[k]);
      const int order = compare_text(sorted[i], sorted[k]);
      CHECK((order < 0) == (i < k));
      CHECK((order > 0) == (i > k));
    }
  }
  CHECK(compare_text("ÉTÉ", "été") == 0);
  CHECK(compare_text("e", "é") != 0);
}

TEST_CASE("wildcards take no longer than the lengths allow") {
  CHECK(Wildcard("a*b?c").matches("AxxBxC"));
  CHECK_FALSE(Wildcard("a*b").matches("abc"));
  CHECK(Wildcard("~*a~?~~").matches("*a?~"));
  CHECK(Wildcard("b*").find("abcb", 0) == 1);
  CHECK_FALSE(Wildcard("b").find("abc", 2));
  const std::string text(32'000, 'a');
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "a*";
  CHECK_FALSE(Wildcard(pattern + "b").matches(text));
  CHECK_FALSE(Wildcard(pattern + "b").find(text, 0));
}

TEST_CASE("cells have addresses") {
  CHECK(area_text({0, 0, 0, 0, {}}) == "A1");
  CHECK(area_text({0, 26, 9, 701, {}}) == "AA1:ZZ10");
  CHECK(parse_address_part("XFD1048576")->column == kMostColumns - 1);
  CHECK_FALSE(parse_address_part("XFE1"));
  CHECK_FALSE(parse_address_part("A0"));
  CHECK_FALSE(parse_address_part("A1048577"));
  CHECK_FALSE(parse_address_part("A1B"));
}

TEST_CASE("arrays end at the caller's limit") {
  CHECK(value_of("SEQUENCE(2000,1000)").error() == ErrorCode::value);
  CHECK(value_of("SUM(SEQUENCE(1000,1000))").number() == 500'000'500'000);
  CHECK(value_of("SEQUENCE(2000)+SEQUENCE(1,2000)").error() == ErrorCode::number);
  CHECK(value_of("EXPAND(1,2000,2000)").error() == ErrorCode::number);
  CHECK(value_of("REPT(\"abc\",20000)").error() == ErrorCode::value);
}

TEST_CASE("chance comes from the caller's generator") {
  for (int i = 0; i < 100; ++i) {
    const double die = value_of("RANDBETWEEN(1,6)").number();
    CHECK((die >= 1 && die <= 6));
    const double part = value_of("RAND()").number();
    CHECK((part >= 0 && part < 1));
  }
  CHECK(value_of("RANDBETWEEN(2,1)").error() == ErrorCode::number);
}

}  // namespace glmhost::formula
