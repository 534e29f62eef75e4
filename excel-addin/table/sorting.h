// The order of rows: Excel's, numbers before texts before FALSE before TRUE before errors, and empty cells last in both
// directions. Rows with equal keys stay in their order.
#pragma once

#include <span>
#include <vector>

#include "excel-addin/table/column.h"
#include "excel-addin/table/workers.h"

namespace glmhost::table {

struct SortColumn {
  Column column;
  bool descending = false;
};

// The rows 0 to rows - 1 in their order.
Rows sorted_rows(std::span<const SortColumn> keys, std::size_t rows, Workers& workers);

// Numbers that compare as the cells do.
std::vector<std::uint64_t> sort_keys(const SortColumn& key, Workers& workers);

}  // namespace glmhost::table
