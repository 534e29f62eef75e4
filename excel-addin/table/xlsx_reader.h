// A sheet of a workbook (.xlsx, .xlsm; ECMA-376, transitional and strict) as a table.
//
// Cells keep the types that the workbook gives them: texts stay texts, numbers under a date format are dates (1904
// workbooks are counted on), a formula is its saved value. Rows of nothing are left out, and so are empty columns at
// the right. A merged area holds its value in its first cell alone. Charts, styles and hidden marks do not count.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "excel-addin/table/table.h"

namespace glmhost::table {

struct XlsxOptions {
  std::string sheet;                // empty: the first one that is not hidden
  std::optional<bool> header = {};  // unset: the first row is one when it holds texts alone
};

struct XlsxResult {
  Table table;
  std::vector<std::string> notes;  // sentences for a person
};

// Throws TableError: for what is no workbook, is encrypted, damaged, or made to fill memory.
XlsxResult read_xlsx(std::string_view bytes, const XlsxOptions& options, Workers& workers);

}  // namespace glmhost::table
