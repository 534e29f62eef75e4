// What the text of one cell is, so that writing it again loses nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "excel-addin/table/column.h"

namespace glmhost::table {

enum class CellClass : std::uint8_t {
  empty,
  number,
  boolean,
  date,        // 2026-01-31, with or without a time
  slash_date,  // 31/01/2026, 1.2.2026: whether day or month comes first is not known
  error,       // #N/A
  identifier,  // digits that a number would alter: 00123, 17 digits, +49, 1E5
  text,
};

struct Cell {
  CellClass kind = CellClass::empty;
  Tag tag = Tag::empty;
  double payload = 0;
  bool grouped = false;  // 1,234.50
};

// `decimal` is . or ,; the other of the two divides thousands.
Cell guessed_cell(std::string_view text, char decimal);

// Could 12.345,60 or 1,5 be meant: one comma with digits behind it, points only between groups of three.
bool has_decimal_comma(std::string_view text);

// A fraction behind a point that no thousands point explains: 1.5, 12.3456.
bool has_decimal_point(std::string_view text);

struct SlashDate {
  int first, second, year;  // as written
};
std::optional<SlashDate> slash_date(std::string_view text);

// The serial of a day; nothing when there is no such day.
std::optional<double> serial_of(int year, int month, int day);

}  // namespace glmhost::table
