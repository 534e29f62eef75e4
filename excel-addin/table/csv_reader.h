// Delimited text as a table: RFC 4180 and the ways in which real files break it.
//
// Encoding: UTF-8 with or without a byte order mark, UTF-16 with one, else Windows-1252. Delimiter: comma, semicolon,
// tab or |, whichever divides the first lines most evenly. Line ends: LF, CRLF, CR. Quotes count only at the begin of a
// field. A short row ends in empty cells; a long one makes further columns.
//
// Types are guessed a column at a time, and never so that writing the table again would lose something: a column with
// 00123, a whole number of more than 15 digits, +49..., 1E5 or 1-2 in it stays text. Numbers with decimal commas are
// read where the delimiter is no comma. Dates are 2026-01-31 with or without a time; 31/01/2026 or 01/31/2026 where the
// whole column has one order and shows which. An almost numeric column becomes mixed, and a note names the cells that
// are no numbers. An unquoted field of nothing is empty; "" is a text without characters.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "excel-addin/table/table.h"

namespace glmhost::table {

struct CsvOptions {
  std::optional<char> delimiter = {};
  std::optional<bool> header = {};  // unset: guessed from the first row
  bool guess_types = true;          // off: every cell is a text
};

struct CsvResult {
  Table table;
  std::vector<std::string> notes;  // sentences for a person: what was unusual and what was made of it
};

// Throws TableError.
CsvResult read_csv(std::string_view bytes, const CsvOptions& options, Workers& workers);

}  // namespace glmhost::table
