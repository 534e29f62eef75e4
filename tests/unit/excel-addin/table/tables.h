// Tables of CSV texts, and pipelines over them, for tests.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "excel-addin/table/csv_reader.h"
#include "excel-addin/table/csv_writer.h"
#include "excel-addin/table/engine.h"
#include "excel-addin/table/pipeline.h"
#include "excel-addin/table/table_error.h"

namespace glmhost::table {

struct Ran {
  std::string csv;
  std::vector<std::string> notes;
};

inline std::string csv_of(const Table& table, Workers& workers) {
  std::string text;
  write_csv(table, workers, [&](std::string_view part) { text += part; });
  return text;
}

// The pipeline over the first table; the others by their names. The same on one thread and on three, or the answer says
// so.
inline Ran run(std::string_view pipeline, std::string_view first, const std::map<std::string, std::string>& others = {},
               RunOptions options = {}) {
  Ran ran[2];
  for (const int which : {0, 1}) {
    Workers workers(which == 0 ? 1 : 3);
    options.open_table = [&](const std::string& name) {
      const auto found = others.find(name);
      if (found == others.end()) throw TableError("There is no table `" + name + "`.");
      return read_csv(found->second, {}, workers).table;
    };
    RunResult result =
        run_pipeline(parse_pipeline(pipeline), pipeline, read_csv(first, {}, workers).table, options, workers);
    ran[which] = {csv_of(result.table, workers), std::move(result.notes)};
  }
  if (ran[0].csv != ran[1].csv) return {"one thread and three differ:\n" + ran[0].csv + ran[1].csv, {}};
  return ran[0];
}

// What the mistake says; empty when there is none.
inline std::string mistake(std::string_view pipeline, std::string_view first,
                           const std::map<std::string, std::string>& others = {}, const RunOptions& options = {}) {
  try {
    run(pipeline, first, others, options);
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

}  // namespace glmhost::table
