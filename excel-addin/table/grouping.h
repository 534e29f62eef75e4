// Rows with equal keys. Texts are equal without case; numbers are equal to the bit (0 and -0 are one); an empty cell is
// a key of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "excel-addin/table/column.h"
#include "excel-addin/table/workers.h"

namespace glmhost::table {

// A key column as small numbers, the same for equal cells. kEmptyCode is that of empty cells.
inline constexpr std::uint32_t kEmptyCode = 0;
struct KeyCodes {
  Buffer<std::uint32_t> codes;
  std::uint64_t range = 1;  // codes are below it
};

// The columns share one set of codes: what is equal in two of them has one code.
std::vector<KeyCodes> key_codes(std::span<const Column> columns, Workers& workers);

struct Grouping {
  Buffer<std::uint32_t> ids;         // of each row
  std::size_t space = 0;             // ids are below it; not each need occur
  std::vector<std::uint32_t> order;  // the ids that occur, as they first do
  Rows first_rows;                   // of order's ids, the first row
  std::size_t groups() const { return order.size(); }
};

// Codes column by column, each of `rows` rows; no column: one group, even of no rows.
Grouping group_codes(std::vector<KeyCodes> keys, std::size_t rows, Workers& workers);
Grouping group_rows(std::span<const Column> keys, std::size_t rows, Workers& workers);

// The rows group by group, in the order of groups and inside of each in that of the table.
struct GroupRows {
  std::vector<std::uint32_t> offsets;  // of group g: from offsets[g] to offsets[g + 1]
  Buffer<std::uint32_t> rows;
  std::span<const std::uint32_t> of(std::size_t group) const {
    return rows.span().subspan(offsets[group], offsets[group + 1] - offsets[group]);
  }
};
GroupRows rows_by_group(const Grouping& grouping, Workers& workers);

}  // namespace glmhost::table
