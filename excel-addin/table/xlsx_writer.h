// A table as a workbook of one sheet: ECMA-376, transitional, as Excel 2007 and later read it. The header is bold and
// stays in sight; dates and times have formats; the same table gives the same bytes.
#pragma once

#include <functional>
#include <string_view>

#include "excel-addin/table/table.h"

namespace glmhost::table {

// Calls write with pieces of the file, in order. Throws TableError for what a sheet cannot hold: more than 1,048,575
// rows beside the header, 16,384 columns, or 32,767 characters in a cell.
void write_xlsx(const Table& table, Workers& workers, const std::function<void(std::string_view)>& write);

}  // namespace glmhost::table
