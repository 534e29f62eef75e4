// Pairs of rows with equal keys.
#pragma once

#include <span>

#include "excel-addin/table/column.h"
#include "excel-addin/table/pipeline.h"
#include "excel-addin/table/workers.h"

namespace glmhost::table {

struct JoinedRows {
  Rows left, right;            // kNoRow where a side has no row
  bool all_left_once = false;  // left is 0, 1, 2, ...
};

// In the order of the left table and, for one left row, of the right one; right rows without a partner (right, full)
// come last. Keys with an empty cell or an error match nothing. semi and anti give left rows alone. Throws TableError
// with the number of rows when there would be more than `most_rows`, before anything is made.
JoinedRows join_rows(JoinKind kind, std::span<const Column> left_keys, std::span<const Column> right_keys,
                     std::size_t left_rows, std::size_t right_rows, std::size_t most_rows, Workers& workers);

}  // namespace glmhost::table
