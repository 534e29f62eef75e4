// Columns of a table, one typed run of cells each.
//
// A column is all empty, or of one type with empty cells among it, or mixed. It is never changed once made and may be
// read by many threads; copies share the cells. The cells may lie anywhere that the owner keeps alive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "excel-addin/formula/value.h"
#include "excel-addin/table/buffer.h"
#include "excel-addin/table/dictionary.h"

namespace glmhost::table {

enum class ColumnType : std::uint8_t { empty, number, text, boolean, mixed };

// What a cell of a mixed column is. Beside it stands a double: the number, the code of the text, 0 or 1, or the
// ErrorCode.
enum class Tag : std::uint8_t { empty, number, date, time, date_time, text, boolean, error };

Tag tag_of(formula::NumberKind kind);
constexpr bool is_number(Tag tag) {
  return tag >= Tag::number && tag <= Tag::date_time;
}
formula::NumberKind kind_of(Tag tag);  // of a number's tag

using Rows = std::vector<std::uint32_t>;
inline constexpr std::uint32_t kNoRow = 0xFFFFFFFFu;  // a row that is not there: its cells are empty
inline constexpr std::size_t kMostTableRows = kNoRow - 1;
inline constexpr std::size_t kMostColumns = 16'384;  // as in Excel's grid

class Column {
 public:
  Column() = default;

  static Column empties(std::size_t rows);
  // `valid` has a bit for each row, lowest first; empty: no cell is empty.
  static Column numbers(Buffer<double> cells, Buffer<std::uint64_t> valid = {},
                        formula::NumberKind kind = formula::NumberKind::plain);
  static Column texts(Buffer<std::uint32_t> codes, Buffer<std::uint64_t> valid,
                      std::shared_ptr<const Dictionary> dictionary);
  static Column booleans(Buffer<std::uint8_t> cells, Buffer<std::uint64_t> valid = {});
  // Becomes a column of one type where all cells allow it. `dictionary` may be null when no cell is a text.
  static Column mixed(Buffer<Tag> tags, Buffer<double> payloads, std::shared_ptr<const Dictionary> dictionary);
  // Cells that lie in memory which `owner` keeps: nothing is copied. A null `valid`: no cell is empty.
  static Column numbers_in_place(const double* cells, const std::uint64_t* valid, std::size_t rows,
                                 formula::NumberKind kind, std::shared_ptr<const void> owner);
  static Column booleans_in_place(const std::uint8_t* cells, const std::uint64_t* valid, std::size_t rows,
                                  std::shared_ptr<const void> owner);
  static Column constant(const formula::Value& value, std::size_t rows);
  static Column of(std::span<const formula::Value> values);

  ColumnType type() const { return type_; }
  std::size_t rows() const { return rows_; }
  formula::NumberKind kind() const { return kind_; }  // of a number column

  // Each belongs to its type.
  const double* numbers() const { return numbers_; }
  const std::uint32_t* codes() const { return codes_; }
  const std::uint8_t* booleans() const { return booleans_; }
  const Tag* tags() const { return tags_; }
  const double* payloads() const { return numbers_; }
  const std::shared_ptr<const Dictionary>& dictionary() const { return dictionary_; }

  // Not of mixed columns.
  bool has_empties() const { return valid_ != nullptr || type_ == ColumnType::empty; }
  const std::uint64_t* valid() const { return valid_; }
  bool is_valid(std::size_t row) const { return valid_ == nullptr || (valid_[row >> 6] >> (row & 63) & 1) != 0; }

  Tag tag(std::size_t row) const;
  formula::Value value(std::size_t row) const;

 private:
  ColumnType type_ = ColumnType::empty;
  formula::NumberKind kind_ = formula::NumberKind::plain;
  std::size_t rows_ = 0;
  const double* numbers_ = nullptr;
  const std::uint32_t* codes_ = nullptr;
  const std::uint8_t* booleans_ = nullptr;
  const Tag* tags_ = nullptr;
  const std::uint64_t* valid_ = nullptr;
  std::shared_ptr<const Dictionary> dictionary_;
  std::shared_ptr<const void> owner_;
};

inline std::size_t bitmap_words(std::size_t rows) {
  return (rows + 63) / 64;
}

// Values one by one, of any types.
class ColumnBuilder {
 public:
  void reserve(std::size_t rows);
  void add(const formula::Value& value);  // an array is its upper left cell
  void add(Tag tag, double payload);      // no text
  void add_text(std::string_view text);
  std::size_t rows() const { return tags_.size(); }
  Column finish();

 private:
  std::vector<Tag> tags_;
  std::vector<double> payloads_;
  DictionaryBuilder texts_;
};

class Workers;

// The cells of the given rows, in their order.
Column gather(const Column& column, std::span<const std::uint32_t> rows, Workers& workers);

// The columns' cells one behind the other.
Column concatenated(std::span<const Column> columns);

}  // namespace glmhost::table
