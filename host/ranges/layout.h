// The bytes of a range segment: one table, column-major, written once and then only read.
//
//   Header            128 bytes at offset 0
//   ColumnEntry[n]     64 bytes each
//   data              every run begins at a multiple of 64 bytes
//
// All numbers are little-endian and every offset counts from the start of the segment. What a column is made of, for r
// rows and t texts:
//
//   kind        data                      tags       texts
//   empty       -                         -          -
//   number      double[r]                 -          -           valid: bit for each row, lowest first
//   boolean     uint8[r], 0 or 1          -          -           valid
//   text        uint64[r + 1] offsets     -          the bytes   valid; text i lies at [offset i, offset i + 1)
//   dictionary  uint32[r] codes           -          offsets, bytes of t texts      valid
//   mixed       double[r] payloads        uint8[r]   offsets, bytes of t texts      no bitmap: a tag says what is empty
//
// A payload of a mixed column is the number, the index of the text, 0 or 1 for a boolean, or the code of the error. A
// bitmap that is missing (offset 0) means that no cell is empty. Cells that are empty hold 0. A number column costs 8
// bytes and 1 bit a cell.
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
  std::uint64_t text_offsets;  // of uint64[text_count + 1]; kind text: the same as data_offset
  std::uint64_t text_bytes;    // where the offsets count from
  std::uint64_t text_count;    // texts; kind text: the rows
  std::uint32_t name_offset;   // in the names
  std::uint32_t name_size;     // bytes of UTF-8
};
static_assert(sizeof(ColumnEntry) == 64);

}  // namespace glmhost::ranges
