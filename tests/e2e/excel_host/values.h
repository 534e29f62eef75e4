// What a cell of the host holds, and where.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "excel-addin/xll/excel_api.h"

namespace excel_host {

using glmhost::xll::XlArea;

struct Empty {
  bool operator==(const Empty&) const = default;
};
struct CellError {
  std::int32_t code;
  bool operator==(const CellError&) const = default;
};
inline constexpr std::int32_t kSpillError = 1000;  // no error of the C API
using CellValue = std::variant<Empty, double, std::u16string, bool, CellError>;

struct Grid {
  std::int32_t rows = 1, columns = 1;
  std::vector<CellValue> cells;  // row by row
};

struct Place {
  int sheet = 0;
  std::int32_t row = 0, column = 0;
  auto operator<=>(const Place&) const = default;
};

struct Range {
  int sheet = 0;
  XlArea area{};

  bool contains(const Place& place) const {
    return place.sheet == sheet && place.row >= area.first_row && place.row <= area.last_row &&
           place.column >= area.first_column && place.column <= area.last_column;
  }
  std::int64_t cells() const {
    return std::int64_t{area.last_row - area.first_row + 1} * (area.last_column - area.first_column + 1);
  }
};

bool is_pending(const CellValue& value);
std::string show(const CellValue& value);
std::string show(const Place& place);
std::string to_utf8(std::u16string_view text);
std::u16string to_utf16(std::string_view text);
std::u16string to_utf16(std::wstring_view text);
std::wstring to_wide(std::u16string_view text);
std::int32_t error_named(std::string_view name);  // -1: there is none

// Stops the script, which has failed.
struct Failure {
  std::string sentence;
};

}  // namespace excel_host
