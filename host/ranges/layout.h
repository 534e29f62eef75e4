// The bytes of a range segment: one table, column-major, written once and then only read.
//
//   Header            128 bytes at offset 0
//   ColumnEntry[n]     64 bytes each
//   data              every run begins at a multiple of 64 bytes
//
// All numbers are little-endian and every offset counts from the start of the segment. What a column is made of, for r
// rows:
//
//   kind        data                      beside it
//   empty       -
//   number      double[r]                 valid: uint64[(r + 63) / 64], a bit for each row, lowest first
//   boolean     uint8[r], 0 or 1          valid
//   text        TextRef[r]                valid
//   dictionary  uint32[r] codes           valid; TextRef[text_count], no two of them equal where `distinct` is set
//   mixed       double[r] payloads        tags: uint8[r], which also say what is empty
//
// A TextRef is a place and a length in one number, so that columns can be written side by side and equal texts can
// share their bytes. A payload of a mixed column is the number, the bits of a TextRef, 0 or 1 for a boolean, or the
// code of the error. A bitmap that is missing (offset 0) means that no cell is empty. Cells that are empty hold 0. A
// number column costs 8 bytes and 1 bit a cell.
//
// A segment whose state is not `sealed` is still being written and is refused.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace glmhost::ranges {

inline constexpr std::array<char, 8> kMagic = {'G', 'L', 'M', 'R', 'A', 'N', 'G', 'E'};
inline constexpr std::uint32_t kLayoutVersion = 1;
inline constexpr std::uint64_t kAlignment = 64;
inline constexpr std::uint64_t kMostColumns = 16'384;       // of Excel's grid
inline constexpr std::uint64_t kMostRows = 0xFFFF'FFFEull;  // as many as the table engine's
inline constexpr std::uint64_t kMostSheetRows = 1'048'576;  // of Excel's grid

enum class ColumnKind : std::uint32_t { empty, number, boolean, text, dictionary, mixed };

// What a cell is. A date is a number that wants to be shown as one. The same order as excel-addin/table's Tag.
enum class CellTag : std::uint8_t { empty, number, date, time, date_time, text, boolean, error };
inline constexpr std::uint8_t kMostTag = static_cast<std::uint8_t>(CellTag::error);
inline constexpr std::uint8_t kMostError = 13;  // codes are those of excel-addin/formula's ErrorCode

enum class State : std::uint32_t { open = 0, sealed = 1 };

struct Header {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t state;
  std::uint64_t rows;
  std::uint64_t columns;
  std::uint64_t total_size;      // bytes in use; the file may be longer
  std::uint64_t generation;      // the writer's count of what it wrote, for people and logs
  std::uint64_t columns_offset;  // of ColumnEntry[columns]
  std::uint64_t names_offset;    // of the column names' bytes; 0 when no column has a name
  std::uint64_t names_size;
  std::uint32_t owner_pid;  // of the process that wrote it
  std::uint32_t reserved0;
  std::array<std::uint64_t, 6> reserved;
};
static_assert(sizeof(Header) == 128);

struct ColumnEntry {
  std::uint32_t kind;        // ColumnKind
  std::uint32_t number_tag;  // of a number column: CellTag::number to date_time
  std::uint64_t valid_offset;
  std::uint64_t data_offset;
  std::uint64_t tags_offset;
  std::uint64_t texts_offset;  // of a dictionary
  std::uint64_t text_count;    // of a dictionary
  std::uint32_t distinct;      // of a dictionary: 1: no two of its texts are equal (the reader checks that)
  std::uint32_t reserved;
  std::uint32_t name_offset;  // in the names
  std::uint32_t name_size;    // bytes of UTF-8
};
static_assert(sizeof(ColumnEntry) == 64);

inline constexpr std::uint64_t kMostTextBytes = (1u << 24) - 1;
inline constexpr std::uint64_t kMostTextOffset = (std::uint64_t{1} << 40) - 1;

using TextRef = std::uint64_t;
constexpr TextRef text_ref(std::uint64_t offset, std::uint64_t size) {
  return offset | size << 40;
}
constexpr std::uint64_t text_offset(TextRef ref) {
  return ref & kMostTextOffset;
}
constexpr std::uint64_t text_size(TextRef ref) {
  return ref >> 40;
}

}  // namespace glmhost::ranges
