// Ranges on their way into shared memory, and tables on their way out of it, in one pass each.
#pragma once

#include <cstdint>

#include "excel-addin/xll/argument_reader.h"
#include "excel-addin/xll/result.h"
#include "host/ranges/segment.h"
#include "host/ranges/writer.h"

namespace glmhost::xll {

// Appends the block's rows from `first_row` on to a writer of at least as many columns: from Excel's memory straight
// into the segment. Columns that the block does not have get empty cells.
void write_rows(const ExcelBlock& block, std::uint32_t first_row, std::uint64_t columns, ranges::Writer& writer);

// A table of the argument's areas below each other, as wide as the widest. When the first row holds nothing but texts,
// they are the columns' names. An argument without cells is a table of one empty cell. Throws ranges::RangeError.
ranges::Segment make_segment(const functions::Argument& argument);

// The table as cells: its column names, when it has any, as the first row. A table larger than a sheet is #NUM!.
Result make_result(const ranges::Segment& table);

}  // namespace glmhost::xll
