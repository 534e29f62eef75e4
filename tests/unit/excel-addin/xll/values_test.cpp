#include <doctest/doctest.h>

#include <limits>
#include <random>

#include "excel-addin/formula/text_units.h"
#include "excel-addin/xll/arguments.h"
#include "excel-addin/xll/registration.h"
#include "excel-addin/xll/result.h"
#include "excel-addin/xll/type_text.h"
#include "fake_excel.h"

namespace glmhost::xll {
namespace {

using formula::Array;
using formula::ErrorCode;
using formula::Value;

std::u16string text_in(const XLOPER12& value) {
  REQUIRE((value.xltype & kTypeMask) == xltypeStr);
  return std::u16string(value.val.str + 1, value.val.str[0]);
}

XLOPER12* GLMHOST_EXCEL_CALL nothing() {
  return nullptr;
}
XLOPER12* GLMHOST_EXCEL_CALL several(const ReferenceArgument*, const ValueArgument*, const FP12*, double) {
  return nullptr;
}
void GLMHOST_EXCEL_CALL later(const ValueArgument*) {}

TEST_CASE("Type texts come from the types of C++") {
  static_assert(kTypeText<&nothing, true>.view() == "Q$");
  static_assert(kTypeText<&nothing, false>.view() == "Q");
  static_assert(kTypeText<&several, true>.view() == "QUQK%B$");
  static_assert(kTypeText<&later, false>.view() == ">Q");
  CHECK(kTypeText<&several, false>.view() == "QUQK%B");
}

TEST_CASE("Every kind of value comes through to Excel and back") {
  const std::vector<Value> values = {1.5,
                                     -0.0,
                                     true,
                                     false,
                                     "",
                                     "text",
                                     "a\nb",
                                     "\xF0\x9F\x98\x80 \xC3\xA9",
                                     Value(),
                                     ErrorCode::null,
                                     ErrorCode::division,
                                     ErrorCode::not_available,
                                     ErrorCode::getting_data};
  for (const Value& value : values) {
    const Result result = make_result(value);
    CHECK((result->xltype & xlbitDLLFree) != 0);
    const Value back = to_value(*result);
    CHECK(back.type() == value.type());
    if (value.is_number()) CHECK(back.number() == value.number());
    if (value.is_text()) CHECK(back.text() == value.text());
    if (value.is_boolean()) CHECK(back.boolean() == value.boolean());
    if (value.is_error()) CHECK(back.error() == value.error());
  }
}

TEST_CASE("What Excel has no value for is an error") {
  CHECK(to_value(*make_result(Value(std::numeric_limits<double>::infinity()))).error() == ErrorCode::number);
  CHECK(to_value(*make_result(Value(std::numeric_limits<double>::quiet_NaN()))).error() == ErrorCode::number);
  CHECK(to_value(*make_result(Value(ErrorCode::spill))).error() == ErrorCode::value);
}

TEST_CASE("A text longer than a cell is cut, and never within a character") {
  CHECK(text_in(*make_result(Value(std::string(32'767, 'x')))).size() == 32'767);
  CHECK(text_in(*make_result(Value(std::string(32'768, 'x')))).size() == 32'767);
  const std::u16string cut = text_in(*make_result(Value(std::string(32'766, 'x') + "\xF0\x9F\x98\x80")));
  CHECK(cut == std::u16string(32'766, u'x'));
  Array array(1, 2);
  array[0] = std::string(32'766, 'x') + "\xF0\x9F\x98\x80";
  array[1] = "behind";
  const Result result = make_result(Value(std::move(array)));
  CHECK(text_in(result->val.array.cells[0]).size() == 32'766);
  CHECK(text_in(result->val.array.cells[1]) == u"behind");
}

TEST_CASE("An array is one block of memory") {
  Array array(2, 3);
  array(0, 0) = 1.0;
  array(0, 1) = "two";
  array(1, 0) = ErrorCode::reference;
  array(1, 2) = true;
  const Result result = make_result(Value(std::move(array)));
  REQUIRE(result->xltype == (xltypeMulti | xlbitDLLFree));
  CHECK(result->val.array.rows == 2);
  CHECK(result->val.array.columns == 3);
  CHECK(result->val.array.cells == result.get() + 1);
  CHECK(text_in(result->val.array.cells[1]) == u"two");
  CHECK(result->val.array.cells[2].xltype == xltypeNil);
  CHECK(result->val.array.cells[3].val.err == xlerrRef);
  CHECK(result->val.array.cells[5].val.boolean == 1);
}

TEST_CASE("Damaged arguments are error values") {
  XLOPER12 array{};
  array.xltype = xltypeMulti;
  array.val.array.rows = 2;
  array.val.array.columns = 2;
  CHECK(to_value(array).error() == ErrorCode::value);  // no memory
  XLOPER12 cell = number(1);
  array.val.array.cells = &cell;
  for (const auto& [rows, columns] : {std::pair{0, 1}, {1, 0}, {-1, 1}, {kMostRows + 1, 1}, {1, kMostColumns + 1}}) {
    array.val.array.rows = rows;
    array.val.array.columns = columns;
    CHECK(to_value(array).error() == ErrorCode::value);
  }
  XLOPER12 unknown{};
  unknown.xltype = 0x20;
  CHECK(to_value(unknown).error() == ErrorCode::value);
  XLOPER12 text{};
  text.xltype = xltypeStr;
  CHECK(to_value(text).text().empty());
  for (const XlArea& area :
       {XlArea{-1, 0, 0, 0}, {1, 0, 0, 0}, {0, kMostRows, 0, 0}, {0, 0, 0, kMostColumns}, {0, 0, 2, 1}}) {
    XLOPER12 reference{};
    reference.xltype = xltypeSRef;
    reference.val.sref.area = area;
    CHECK(!reference_of(reference));
  }
}

TEST_CASE("Halves of surrogate pairs become a character that says so") {
  const std::u16string units = {3, u'a', 0xD83D, u'b'};
  XLOPER12 value{};
  value.xltype = xltypeStr;
  value.val.str = units.data();
  const Value text = to_value(value);
  CHECK(formula::valid_utf8(text.text()) ==
        "a\xEF\xBF\xBD"
        "b");
}

TEST_CASE("Random values come back equal") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    Array array(1 + random() % 5, 1 + random() % 5);
    for (std::size_t i = 0; i < array.size(); ++i) {
      switch (random() % 5) {
        case 0:
          array[i] = static_cast<double>(random());
          break;
        case 1:
          array[i] = random() % 2 == 0;
          break;
        case 2:
          array[i] = error_of(static_cast<std::int32_t>(random() % 44));
          break;
        case 3: {
          std::string text;
          for (std::size_t n = random() % 20; n > 0; --n) formula::append_utf8(text, 1 + random() % 0xD7FF);
          if (random() % 4 == 0) formula::append_utf8(text, 0x1F600);
          if (random() % 8 == 0) text += static_cast<char>(0xC3);  // cut off
          array[i] = text;
          break;
        }
        default:
          break;
      }
    }
    const Value value(std::move(array));
    const Value back = to_value(*make_result(value));
    REQUIRE(cells_of(back).size() == cells_of(value).size());
    for (std::size_t i = 0; i < cells_of(value).size(); ++i) {
      const Value& was = cells_of(value)[i];
      const Value& is = cells_of(back)[i];
      REQUIRE(is.type() == was.type());
      if (was.is_text()) REQUIRE(is.text() == formula::valid_utf8(was.text()));
      if (was.is_number()) REQUIRE(is.number() == was.number());
      if (was.is_error()) REQUIRE(is.error() == was.error());
    }
  }
}

TEST_CASE("A whole column is cut to its used cells without being read") {
  FakeExcel fake;
  const Excel excel(&FakeExcel::callback);
  fake.cells[{0, 0}] = 1;
  fake.cells[{70'000, 1}] = 2;
  XlArea area{0, kMostRows - 1, 0, 3};
  bool empty = true;
  REQUIRE(trim(excel, 0, area, empty) == ReadOutcome::done);
  CHECK(!empty);
  CHECK(area == XlArea{0, 70'000, 0, 1});
  CHECK(fake.cells_given == 0);
  XlArea unused{0, kMostRows - 1, 5, 9};
  REQUIRE(trim(excel, 0, unused, empty) == ReadOutcome::done);
  CHECK(empty);
  fake.uncalculated.insert({100, 0});
  XlArea waits{0, kMostRows - 1, 0, 0};
  CHECK(trim(excel, 0, waits, empty) == ReadOutcome::uncalculated);
}

TEST_CASE("A large area is read in pieces, and all that Excel gave goes back") {
  FakeExcel fake;
  const Excel excel(&FakeExcel::callback);
  const XlArea area{0, 599'999, 0, 9};
  std::vector<XlArea> seen;
  std::int32_t rows = 0;
  REQUIRE(read(excel, 0, area, [&](ExcelValue piece) {
            REQUIRE(piece.type() == xltypeMulti);
            CHECK(piece->val.array.columns == 10);
            rows += piece->val.array.rows;
            CHECK(fake.arrays_held() == 1);
          }) == ReadOutcome::done);
  CHECK(rows == 600'000);
  CHECK(fake.arrays_held() == 0);
}

TEST_CASE("A function is registered with texts that Excel takes") {
  FakeExcel fake;
  const Excel excel(&FakeExcel::callback);
  Registration registration{"glm", "QU$", "GLM", std::string(300, 'n'), "GLM", std::string(400, 'h'), {"first", "last"},
                            false};
  REQUIRE(register_with(excel, u"C:\\glm64.xll", registration));
  const std::vector<std::u16string>& texts = fake.registered.at(0);
  CHECK(texts[0] == u"C:\\glm64.xll");
  CHECK(texts[1] == u"glm");
  CHECK(texts[2] == u"QU$");
  CHECK(texts[3] == u"GLM");
  for (const std::u16string& text : texts) CHECK(text.size() <= kMostRegisteredText);
  // The end of the last text is lost in Excel, so the last one is empty.
  CHECK(texts[texts.size() - 2] == u"last");
  CHECK(texts.back().empty());
  registration.argument_help.assign(300, "help");
  REQUIRE(register_with(excel, u"C:\\glm64.xll", registration));
  CHECK(fake.registered.at(1).size() == kMostArguments);
}

}  // namespace
}  // namespace glmhost::xll
