// Tables in range segments (host/ranges).
//
// Numbers and booleans are read where they lie; the segment lives as long as a column of it. Texts become a dictionary
// of their distinct values, which grouping, joining and sorting need anyway: that is one pass over them.
#pragma once

#include "excel-addin/table/table.h"
#include "host/ranges/segment.h"
#include "host/ranges/writer.h"

namespace glmhost::table {

// Columns without a name are called column1, column2, ...; a name that is there already gets _2, _3, ...
Table to_table(const ranges::Segment& segment);

// Into the segment of that name, which its reader has made. Throws ranges::RangeError.
void write_table(const Table& table, Workers& workers, std::string_view segment);

}  // namespace glmhost::table
