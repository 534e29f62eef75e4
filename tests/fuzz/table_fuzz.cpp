// Arbitrary bytes as CSV and as a pipeline over it. The input is a pipeline, a zero byte, and the file.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "excel-addin/table/csv_reader.h"
#include "excel-addin/table/csv_writer.h"
#include "excel-addin/table/engine.h"
#include "excel-addin/table/pipeline.h"
#include "excel-addin/table/table_error.h"

namespace {

using namespace glmhost::table;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

constexpr std::string_view kOther = "a,b,c\n1,x,TRUE\n2,Y,\n,y,#N/A\n00123,2026-01-31,1.5\n";

std::string csv_of(const Table& table, Workers& workers) {
  std::string text;
  write_csv(table, workers, [&](std::string_view part) { text += part; });
  return text;
}

void read_and_run(std::string_view source, std::string_view file) {
  Workers workers(1);
  Table input;
  try {
    input = read_csv(file, {}, workers).table;
  } catch (const TableError&) {
    return;  // such as a file that is no text
  }
  // What was written reads back as itself.
  const std::string written = csv_of(input, workers);
  if (input.width() > 1 && input.rows() > 0) {
    CsvOptions again;
    again.header = true;
    again.delimiter = ',';
    again.guess_types = false;
    const Table back = read_csv(written, again, workers).table;
    require(back.width() == input.width(), "a written table has as many columns");
  }
  RunOptions options;
  options.most_rows = 2000;
  options.open_table = [&](const std::string& name) {
    if (name != "t") throw TableError("There is no such table.");
    return read_csv(kOther, {}, workers).table;
  };
  try {
    const Pipeline pipeline = parse_pipeline(source);
    explained(pipeline, source);
    const std::string formatted = formatted_pipeline(source);
    parse_pipeline(formatted);
    require(formatted_pipeline(formatted) == formatted, "formatting twice changes nothing");
    const RunResult result = run_pipeline(pipeline, source, input.slice(0, 200, workers), options, workers);
    csv_of(result.table, workers);
  } catch (const glmhost::formula::SyntaxError& error) {
    require(error.offset() <= source.size(), "a mistake lies in the source");
    require(!std::string_view(error.what()).empty(), "a mistake has a sentence");
  } catch (const TableError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMostSize = 4096;  // longer ones say nothing new and take long
  if (size > kMostSize) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t zero = input.find('\0');
  const bool has_file = zero != std::string_view::npos;
  read_and_run(input.substr(0, zero), has_file ? input.substr(zero + 1) : kOther);
  return 0;
}
