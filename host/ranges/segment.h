// A table in shared memory, read in place.
//
// Opening checks everything once: magic, version, that every run lies inside of the segment and is aligned, that
// offsets of texts ascend, that texts are UTF-8, that codes, tags and error codes exist. What is not so is a RangeError
// with a sentence; behind it nothing is checked again. Copies share the memory, which goes with the last of them; any
// number of threads may read.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "host/ranges/layout.h"
#include "host/ranges/range_error.h"
#include "host/ranges/shared_memory.h"

namespace glmhost::ranges {

class ColumnView {
 public:
  ColumnKind kind() const { return kind_; }
  std::uint64_t rows() const { return rows_; }
  std::string_view name() const { return name_; }  // empty: none

  // Each belongs to its kind; null elsewhere. They point into the segment.
  const double* numbers() const { return numbers_; }          // number; payloads of mixed
  const std::uint8_t* booleans() const { return booleans_; }  // boolean
  const std::uint32_t* codes() const { return codes_; }       // dictionary
  const CellTag* tags() const { return tags_; }               // mixed
  const std::uint64_t* valid() const { return valid_; }       // null: no cell is empty, or kind mixed or empty
  CellTag number_tag() const { return number_tag_; }          // of a number column
  // Of a text column one a row, of a dictionary column one a code.
  std::span<const TextRef> texts() const { return {texts_, static_cast<std::size_t>(text_count_)}; }
  bool is_distinct() const { return distinct_; }  // a dictionary without two equal texts
  std::string_view resolve(TextRef ref) const {
    return {base_ + text_offset(ref), static_cast<std::size_t>(text_size(ref))};
  }

  // A cell of any kind.
  CellTag tag(std::uint64_t row) const;
  double number(std::uint64_t row) const;          // of a number, date, time; 0 or 1 of a boolean; code of an error
  std::string_view text(std::uint64_t row) const;  // of a text

 private:
  friend class Segment;
  bool is_valid(std::uint64_t row) const { return valid_ == nullptr || (valid_[row >> 6] >> (row & 63) & 1) != 0; }

  ColumnKind kind_ = ColumnKind::empty;
  CellTag number_tag_ = CellTag::number;
  std::uint64_t rows_ = 0;
  std::string_view name_;
  const double* numbers_ = nullptr;
  const std::uint8_t* booleans_ = nullptr;
  const std::uint32_t* codes_ = nullptr;
  const CellTag* tags_ = nullptr;
  const std::uint64_t* valid_ = nullptr;
  const TextRef* texts_ = nullptr;
  const char* base_ = nullptr;  // of the segment
  std::uint64_t text_count_ = 0;
  bool distinct_ = false;
};

class Segment {
 public:
  // Another process's segment, by name. Throws RangeError.
  static Segment open(std::string_view name);
  // The same over memory that is there already, such as a test's. `owner` keeps it.
  static Segment over(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

  const std::string& name() const;  // empty for one that lies in no shared memory
  std::uint64_t rows() const;
  std::uint64_t width() const;
  std::uint64_t generation() const;
  std::uint64_t bytes() const;
  const ColumnView& column(std::uint64_t index) const;

  // Keeps the memory alive, for views that are held on to.
  std::shared_ptr<const void> owner() const;

  // A hash (XXH3, 128 bits) of what the table holds, not of how it is laid out in memory it does not use.
  struct Hash {
    std::uint64_t low = 0, high = 0;
    bool operator==(const Hash&) const = default;
  };
  Hash content_hash() const;

 private:
  struct State;
  explicit Segment(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  friend Segment trusted_segment(SharedMemory memory);
  static Segment make(std::string name, std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                      bool check_cells);
  std::shared_ptr<const State> state_;
};

}  // namespace glmhost::ranges
