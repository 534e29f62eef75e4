// A segment while it is written: the memory that grows, and for each column what it is so far.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/ranges/layout.h"
#include "host/ranges/shared_memory.h"

namespace glmhost::ranges {

// The most that rows x columns cells can take.
std::size_t reserve_for(std::uint64_t rows, std::uint64_t columns);

struct ColumnState {
  ColumnKind kind = ColumnKind::empty;
  CellTag number_tag = CellTag::number;
  bool distinct = false;
  std::uint64_t rows = 0;   // added so far
  std::uint64_t valid = 0;  // offsets; 0: not there
  std::uint64_t data = 0;
  std::uint64_t tags = 0;
  std::uint64_t texts = 0;
  std::uint64_t text_count = 0;
  std::string name;
};

class Assembly {
 public:
  Assembly(std::uint64_t rows, std::uint64_t columns, SharedMemory memory);

  std::uint64_t rows() const { return rows_; }
  ColumnState& column(std::uint64_t index) { return columns_[index]; }
  std::uint64_t width() const { return columns_.size(); }
  std::uint64_t bytes_written() const { return bytes_written_; }
  void set_generation(std::uint64_t generation) { generation_ = generation; }

  void add_empties(ColumnState& column, std::uint64_t count);
  void add_numbers(ColumnState& column, const double* numbers, std::size_t count, std::size_t stride);
  void add_cell(ColumnState& column, CellTag tag, double payload);  // no text
  void add_text(ColumnState& column, std::string_view utf8);
  void add_text(ColumnState& column, std::u16string_view utf16);
  void set_dictionary(ColumnState& column, std::span<const std::uint32_t> codes, const std::uint64_t* valid,
                      std::span<const std::string_view> texts);

  SharedMemory seal();

 private:
  template <class T>
  T* at(std::uint64_t offset) {
    return reinterpret_cast<T*>(memory_.data() + offset);
  }
  void check_room(const ColumnState& column, std::uint64_t count) const;
  std::uint64_t allocate(std::uint64_t bytes);  // zeroed, aligned
  void grow(std::uint64_t end);
  void begin(ColumnState& column, ColumnKind kind, CellTag number_tag);
  void become_mixed(ColumnState& column);
  void add_ref(ColumnState& column, TextRef ref);
  TextRef put_text(std::string_view utf8);
  void mark_valid(const ColumnState& column, std::uint64_t first, std::uint64_t count);
  void need_bitmap(ColumnState& column);

  std::uint64_t rows_;
  std::vector<ColumnState> columns_;
  SharedMemory memory_;
  std::uint64_t columns_offset_ = 0;
  std::uint64_t end_ = 0;  // bytes in use
  std::uint64_t bytes_written_ = 0;
  std::uint64_t generation_ = 0;
};

}  // namespace glmhost::ranges
