// What an expression is worth: Excel's values.
//
// A value is empty, a number, a text, a boolean, an error, or an array of such. A date is a number that remembers how
// it wants to be shown. Values are immutable in spirit: arrays are shared, never changed once made, and may be read by
// many threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "excel-addin/formula/error_code.h"

namespace glmhost::formula {

class Array;

// How a number wants to be shown. Arithmetic treats all alike; see operators.h for what it makes of them.
enum class NumberKind : std::uint8_t { plain, date, time, date_time };

// A rectangle of cells, zero-based, both corners inside. Whole columns end at kMostRows - 1.
struct Area {
  std::uint32_t first_row = 0, first_column = 0, last_row = 0, last_column = 0;
  std::string sheet;  // empty: the formula's own

  std::uint32_t rows() const { return last_row - first_row + 1; }
  std::uint32_t columns() const { return last_column - first_column + 1; }
  bool operator==(const Area&) const = default;
};

inline constexpr std::uint32_t kMostRows = 1'048'576;
inline constexpr std::uint32_t kMostColumns = 16'384;

enum class Type : std::uint8_t { empty, number, text, boolean, error, array };

class Value {
 public:
  Value() = default;  // empty
  Value(double number, NumberKind kind = NumberKind::plain) : content_(Number{number, kind}) {}
  Value(int number) : Value(static_cast<double>(number)) {}
  Value(bool boolean) : content_(boolean) {}
  Value(ErrorCode error) : content_(error) {}
  Value(std::string text) : content_(std::move(text)) {}
  Value(std::string_view text) : content_(std::string(text)) {}
  Value(const char* text) : content_(std::string(text)) {}
  Value(Array array);
  Value(std::shared_ptr<const Array> array) : content_(std::move(array)) {}

  // An argument left out between commas. Counts as empty wherever a function does not say otherwise.
  static Value omitted() {
    Value value;
    value.content_ = Empty{true};
    return value;
  }

  Type type() const { return static_cast<Type>(content_.index()); }
  bool is_empty() const { return type() == Type::empty; }
  bool is_omitted() const { return is_empty() && std::get<Empty>(content_).omitted; }
  bool is_number() const { return type() == Type::number; }
  bool is_text() const { return type() == Type::text; }
  bool is_boolean() const { return type() == Type::boolean; }
  bool is_error() const { return type() == Type::error; }
  bool is_array() const { return type() == Type::array; }

  // Each asks for the type that the value has.
  double number() const { return std::get<Number>(content_).value; }
  NumberKind kind() const { return std::get<Number>(content_).kind; }
  const std::string& text() const { return std::get<std::string>(content_); }
  bool boolean() const { return std::get<bool>(content_); }
  ErrorCode error() const { return std::get<ErrorCode>(content_); }
  const Array& array() const { return *std::get<std::shared_ptr<const Array>>(content_); }

  // The value itself, or the upper left cell of an array.
  const Value& scalar() const;

  // Where the cells lie, when the value was read from cells.
  const Area* area() const;

 private:
  struct Number {
    double value;
    NumberKind kind;
  };
  struct Empty {
    bool omitted;
  };
  std::variant<Empty, Number, std::string, bool, ErrorCode, std::shared_ptr<const Array>> content_;
};

// rows x columns scalars, row by row; neither is 0.
class Array {
 public:
  Array(std::size_t rows, std::size_t columns) : rows_(rows), columns_(columns), cells_(rows * columns) {}
  Array(std::size_t rows, std::size_t columns, std::vector<Value> cells)
      : rows_(rows), columns_(columns), cells_(std::move(cells)) {}

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  std::size_t size() const { return cells_.size(); }

  const Value& operator()(std::size_t row, std::size_t column) const { return cells_[row * columns_ + column]; }
  Value& operator()(std::size_t row, std::size_t column) { return cells_[row * columns_ + column]; }
  const Value& operator[](std::size_t index) const { return cells_[index]; }
  Value& operator[](std::size_t index) { return cells_[index]; }
  std::span<const Value> cells() const { return cells_; }

  const std::optional<Area>& area() const { return area_; }
  void set_area(Area area) { area_ = std::move(area); }

 private:
  std::size_t rows_, columns_;
  std::vector<Value> cells_;
  std::optional<Area> area_;
};

// The value's cells: those of an array, or the value itself as one.
std::span<const Value> cells_of(const Value& value);
std::size_t rows_of(const Value& value);
std::size_t columns_of(const Value& value);
const Value& cell_of(const Value& value, std::size_t row, std::size_t column);

inline Value::Value(Array array) : content_(std::make_shared<const Array>(std::move(array))) {}

}  // namespace glmhost::formula
