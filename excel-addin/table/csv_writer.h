// A table as CSV: RFC 4180, UTF-8, LF. Numbers in the fewest digits that read back as the same number; dates as
// 2026-01-31; an empty cell is nothing, a text without characters "".
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "excel-addin/table/table.h"

namespace glmhost::table {

// Calls write with pieces of the text, in order.
void write_csv(const Table& table, Workers& workers, const std::function<void(std::string_view)>& write);

// What a cell shows to a person: numbers with 15 digits at most.
std::string shown_text(const formula::Value& value);

}  // namespace glmhost::table
