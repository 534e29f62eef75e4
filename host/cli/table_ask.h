// A question about a table, in plain words, to a pipeline.
#pragma once

#include <string>

#include "excel-addin/table/table.h"
#include "host/cli/interrupt.h"

namespace glmhost::cli {

struct TableQuestion {
  std::string words;
  std::string model;            // empty: the default one
  std::size_t sample_rows = 3;  // how many rows the model may see
  bool says_what_is_sent = true;
};

// Asks the daemon (and starts one where none runs). What is sent: the names and types of the columns, the sample rows,
// the question; stderr says so. The answer is decoded under the table language's grammar, so that it parses. Throws
// Failure.
std::string asked_pipeline(const TableQuestion& question, const table::Table& table, table::Workers& workers,
                           Interrupt& interrupt);

}  // namespace glmhost::cli
