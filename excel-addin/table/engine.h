// Runs a pipeline.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "excel-addin/table/expression.h"
#include "excel-addin/table/pipeline.h"
#include "excel-addin/table/table.h"

namespace glmhost::table {

struct RunOptions {
  // The table with the name that a `from`, join, append, ... gives; throws TableError when there is none. May be empty:
  // there are none then.
  std::function<Table(const std::string& name)> open_table;
  std::size_t most_rows = std::size_t{1} << 28;  // of a join, unpivot or append; beyond it they are refused
  // Called before each stage of the outermost pipeline, with its place, how many there are, and its first word.
  std::function<void(std::size_t stage, std::size_t count, const std::string& word)> on_stage = {};
};

struct RunResult {
  Table table;
  std::vector<std::string> notes;  // sentences for a person, such as how many rows a filter left out for an error
};

// `source` is the text that the pipeline was parsed from; `input` the table that the first stage gets. Throws
// formula::SyntaxError (with a place in the source), TableError, or Cancelled. The same answer on any number of
// threads.
RunResult run_pipeline(const Pipeline& pipeline, std::string_view source, Table input, const RunOptions& options,
                       Workers& workers);

}  // namespace glmhost::table
