#include "host/ranges/writer.h"

#include <doctest/doctest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <random>
#include <variant>
#include <vector>

using namespace glmhost::ranges;

namespace {

struct Nothing {
  bool operator==(const Nothing&) const = default;
};
struct Wrong {
  int code = 0;
  bool operator==(const Wrong&) const = default;
};
using Cell = std::variant<Nothing, double, std::string, bool, Wrong>;

void add(ColumnWriter column, const Cell& cell) {
  if (std::holds_alternative<Nothing>(cell)) column.add_empty();
  if (const auto* number = std::get_if<double>(&cell)) column.add_number(*number);
  if (const auto* text = std::get_if<std::string>(&cell)) column.add_text(std::string_view(*text));
  if (const auto* boolean = std::get_if<bool>(&cell)) column.add_boolean(*boolean);
  if (const auto* error = std::get_if<Wrong>(&cell)) column.add_error(static_cast<std::uint8_t>(error->code));
}

Cell read(const ColumnView& column, std::uint64_t row) {
  switch (column.tag(row)) {
    case CellTag::empty:
      return Nothing{};
    case CellTag::text:
      return std::string(column.text(row));
    case CellTag::boolean:
      return column.number(row) != 0;
    case CellTag::error:
      return Wrong{static_cast<int>(column.number(row))};
    default:
      return column.number(row);
  }
}

}  // namespace

TEST_CASE("a column of numbers costs its numbers alone") {
  const std::vector<double> numbers = {1, 2.5, -3, 0};
  Writer writer(4, 1);
  writer.column(0).add_numbers(numbers);
  CHECK(writer.bytes_written() == 32);
  writer.set_name(0, "Größe");
  const Segment segment = writer.seal();
  CHECK(segment.rows() == 4);
  CHECK(segment.width() == 1);
  const ColumnView& column = segment.column(0);
  CHECK(column.kind() == ColumnKind::number);
  CHECK(column.name() == "Größe");
  CHECK(column.valid() == nullptr);
  CHECK(std::memcmp(column.numbers(), numbers.data(), 32) == 0);
  CHECK(reinterpret_cast<std::uintptr_t>(column.numbers()) % 64 == 0);
}

TEST_CASE("cells of any types in any order come back as they were, here and in another opening") {
  std::mt19937 random(7);
  const std::vector<Cell> kinds = {Nothing{}, 1.5, std::string("a"), true, Wrong{6}, std::string(), 0.0, false};
  for (int round = 0; round < 300; ++round) {
    const std::size_t rows = random() % 200, columns = 1 + random() % 4;
    // Few kinds in some rounds, so that columns of one type come up too.
    const std::size_t of = 1 + random() % kinds.size(), from = random() % kinds.size();
    std::vector<std::vector<Cell>> cells(columns, std::vector<Cell>(rows));
    Writer writer(rows, columns);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t column = 0; column < columns; ++column) {
        Cell& cell = cells[column][row];
        cell = kinds[(from + random() % of) % kinds.size()];
        if (std::holds_alternative<std::string>(cell) && random() % 2 == 0) cell = std::string(random() % 50, 'x');
        add(writer.column(column), cell);
      }
    }
    const Segment own = writer.seal();
    const Segment opened = Segment::open(own.name());
    for (const Segment& segment : {own, opened}) {
      for (std::size_t column = 0; column < columns; ++column) {
        for (std::size_t row = 0; row < rows; ++row) {
          REQUIRE(read(segment.column(column), row) == cells[column][row]);
        }
      }
    }
    CHECK(own.content_hash() == opened.content_hash());
  }
}

TEST_CASE("runs of numbers among other cells, with a stride too") {
  const std::vector<double> block = {1, 10, 2, 20, 3, 30};
  Writer writer(7, 3);
  writer.column(0).add_numbers(block.data(), 3, 2);
  writer.column(0).add_numbers(block.data() + 1, 3, 2);
  writer.column(1).add_text(std::string_view("x"));
  writer.column(1).add_numbers(block);
  writer.column(2).add_empties(2);
  writer.column(2).add_numbers(std::span(block).first(3));
  const Segment segment = writer.seal();
  const double first[] = {1, 2, 3, 10, 20, 30};
  for (int i = 0; i < 6; ++i) CHECK(read(segment.column(0), i) == Cell(first[i]));
  CHECK(read(segment.column(0), 6) == Cell(Nothing{}));  // not written
  CHECK(read(segment.column(1), 0) == Cell(std::string("x")));
  CHECK(read(segment.column(1), 6) == Cell(30.0));
  CHECK(segment.column(2).kind() == ColumnKind::number);
  CHECK(read(segment.column(2), 1) == Cell(Nothing{}));
  CHECK(read(segment.column(2), 4) == Cell(2.0));
  CHECK(read(segment.column(2), 5) == Cell(Nothing{}));
}

TEST_CASE("dates are numbers of their own kind") {
  Writer writer(2, 2);
  writer.column(0).add_number(45'000, CellTag::date);
  writer.column(0).add_number(45'001, CellTag::date);
  writer.column(1).add_number(45'000, CellTag::date);
  writer.column(1).add_number(1);
  const Segment segment = writer.seal();
  CHECK(segment.column(0).kind() == ColumnKind::number);
  CHECK(segment.column(0).tag(1) == CellTag::date);
  CHECK(segment.column(1).tag(0) == CellTag::date);
  CHECK(segment.column(1).tag(1) == CellTag::number);
}

TEST_CASE("Excel's texts: surrogates, line feeds, the longest cell") {
  const std::u16string longest(32'767, u'\u4e16');
  Writer writer(5, 1);
  writer.column(0).add_text(std::u16string_view(u"abcd\u00e9fghij\U0001F600k"));
  writer.column(0).add_text(std::u16string_view(u"\xD83Dx"));
  writer.column(0).add_text(std::u16string_view(u"x\xDE00"));
  writer.column(0).add_text(std::u16string_view(u""));
  writer.column(0).add_text(std::u16string_view(longest));
  const Segment written = writer.seal();
  const Segment segment = Segment::open(written.name());
  CHECK(segment.column(0).text(0) == "abcd\u00e9fghij\U0001F600k");
  CHECK(segment.column(0).text(1) == "\uFFFDx");
  CHECK(segment.column(0).text(2) == "x\uFFFD");
  CHECK(segment.column(0).tag(3) == CellTag::text);
  CHECK(segment.column(0).text(3).empty());
  CHECK(segment.column(0).text(4).size() == 3 * 32'767);
}

TEST_CASE("a dictionary column") {
  const std::vector<std::uint32_t> codes = {1, 0, 1};
  const std::vector<std::string_view> texts = {"north", "süd"};
  const std::uint64_t valid = 0b101;
  Writer writer(4, 1);
  writer.column(0).set_dictionary(codes, &valid, texts);
  const Segment written = writer.seal();
  const Segment segment = Segment::open(written.name());
  CHECK(segment.column(0).is_distinct());
  CHECK(read(segment.column(0), 0) == Cell(std::string("süd")));
  CHECK(read(segment.column(0), 1) == Cell(Nothing{}));
  CHECK(read(segment.column(0), 2) == Cell(std::string("süd")));
  CHECK(read(segment.column(0), 3) == Cell(Nothing{}));
}

TEST_CASE("what does not fit is refused") {
  Writer writer(1, 1);
  writer.column(0).add_empty();
  CHECK_THROWS_AS(writer.column(0).add_empty(), RangeError);
  CHECK_THROWS_AS(writer.column(0).add_numbers(std::vector<double>{1.0}), RangeError);
  CHECK_THROWS_AS(writer.column(1), RangeError);
  CHECK_THROWS_AS(Writer(1, 16'385), RangeError);
  Writer other(1, 1);
  CHECK_THROWS_AS(other.column(0).add_error(14), RangeError);
  CHECK_THROWS_AS(other.column(0).add_text(std::string_view(std::string(1u << 24, 'a'))), RangeError);
}

TEST_CASE("a result in a slot that somebody else made") {
  const ResultSlot slot;
  CHECK_THROWS_AS(slot.open(), RangeError);  // nothing is there yet
  {
    Writer writer(2, 1, slot.name());
    writer.column(0).add_text(std::string_view("answer"));
    CHECK_THROWS_AS(slot.open(), RangeError);  // nor is it complete
    writer.seal();
  }
  CHECK(slot.open().column(0).text(0) == "answer");
}

TEST_CASE("the hash tells contents apart and nothing else") {
  const auto hash = [](const Cell& cell, std::string_view name = {}) {
    Writer writer(2, 1);
    add(writer.column(0), cell);
    if (!name.empty()) writer.set_name(0, name);
    return writer.seal().content_hash();
  };
  CHECK(hash(1.0) == hash(1.0));
  CHECK_FALSE(hash(1.0) == hash(true));
  CHECK_FALSE(hash(0.0) == hash(Nothing{}));
  CHECK_FALSE(hash(std::string()) == hash(Nothing{}));
  CHECK_FALSE(hash(1.0) == hash(1.0, "a"));
}
