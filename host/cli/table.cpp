#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <thread>

#include "excel-addin/formula/text_units.h"
#include "excel-addin/table/csv_reader.h"
#include "excel-addin/table/csv_writer.h"
#include "excel-addin/table/engine.h"
#include "excel-addin/table/pipeline.h"
#include "excel-addin/table/table_error.h"
#include "excel-addin/table/xlsx_reader.h"
#include "excel-addin/table/xlsx_writer.h"
#include "host/cli/command.h"
#include "host/cli/console.h"
#include "host/cli/interrupt.h"
#include "host/cli/json_text.h"
#include "host/cli/model_access.h"
#include "host/cli/table_ask.h"
#include "host/cli/table_progress.h"
#include "host/cli/text_table.h"
#include "host/cli/verbs.h"
#include "host/platform/paths.h"
#include "host/platform/process.h"
#include "host/platform/terminal.h"

namespace glmhost::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kMostFile = std::uint64_t{1} << 40;
constexpr std::size_t kMostShownRows = 40;
constexpr std::size_t kMostShownWidth = 60;  // of one cell on a terminal

constexpr CommandText kText = {
    .verb = "table",
    .words = "PIPELINE [FILE...] | --ask QUESTION FILE",
    .summary = "Filter, join, group and reshape tables",
    .details =
        "Stages divided by | or line ends run over the first file (CSV or XLSX; - for stdin): from, select, rename, "
        "derive, "
        "filter, sort, take, skip, sample, distinct, group, join, append, union, intersect, except, window, pivot, "
        "unpivot, fill, split, combine, complete, describe, assert, let. Expressions and functions are Excel's. "
        "Further files are known to join "
        "and the like by their names without .csv; book.xlsx#Prices is a sheet of a workbook. On a terminal the result "
        "is an aligned table, in a pipe CSV.",
    .examples =
        "  glm table 'filter amount > 100 | group region (total = SUM(amount)) | sort -total' orders.csv\n"
        "  glm table 'join left customers on customer = id | take 10' orders.csv customers.csv -o first.csv\n"
        "  glm table 'from \"book.xlsx#Prices\" | describe' -o profile.xlsx\n"
        "  cat orders.csv | glm table describe -\n"
        "  glm table --ask \"top five customers by amount per region\" orders.csv\n"
        "  glm table --check 'filter amount >'",
};

struct Flags {
  std::string output, delimiter, sheet, ask, model, memory;
  bool check = false, format = false, explain = false, timing = false, header = false, no_header = false, texts = false,
       quiet = false, yes = false;
  std::int32_t threads = 0, repeat = 1, samples = 3;
};

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string sentence_for(const formula::SyntaxError& error, std::string_view source) {
  const formula::Position position = formula::position_of(source, error.offset());
  return "The pipeline is wrong at " +
         (position.line > 1 ? "line " + std::to_string(position.line) + ", " : std::string()) + "column " +
         std::to_string(position.column) + ":\n" + formula::caret_text(source, error.offset(), error.length()) +
         error.what();
}

// What a file is called in a pipeline.
std::string stem_of(const std::string& file) {
  return platform::to_utf8(platform::path_from_utf8(file).stem());
}

// book.xlsx#Prices is the sheet Prices of book.xlsx.
std::pair<std::string, std::string> without_sheet(const std::string& file) {
  for (const std::string_view extension : {".xlsx#", ".xlsm#"}) {
    const std::size_t at = formula::lower(file).rfind(extension);
    if (at == std::string::npos || file.size() <= at + extension.size()) continue;
    return {file.substr(0, at + extension.size() - 1), file.substr(at + extension.size())};
  }
  return {file, ""};
}

class Tables {
 public:
  Tables(const Flags& flags, std::vector<std::string> files, table::Workers& workers)
      : flags_(flags), files_(std::move(files)), workers_(workers) {}

  table::Table first() { return files_.empty() ? table::Table() : open(files_[0]); }

  // By the name of a file of the command line, or any file by its path.
  table::Table named(const std::string& name) {
    for (const std::string& file : files_) {
      if (file == name || (file != "-" && formula::equal_without_case(stem_of(file), name))) return open(file);
    }
    std::error_code ignored;
    if (name != "-" && std::filesystem::exists(platform::path_from_utf8(without_sheet(name).first), ignored))
      return open(name);
    std::vector<std::string> stems;
    for (const std::string& file : files_) stems.push_back(stem_of(file));
    const std::vector<std::string_view> views(stems.begin(), stems.end());
    const std::string near(formula::nearest_of(name, views));
    throw table::TableError("There is no table `" + name + "`: no file of that name is given, and none lies there." +
                            (near.empty() ? "" : " Did you mean `" + near + "`?"));
  }

 private:
  table::Table open(const std::string& file) {
    for (const auto& [name, known] : opened_) {
      if (name == file) return known;
    }
    const auto [path, sheet] = without_sheet(file);
    std::error_code unknown;
    const std::uintmax_t size = std::filesystem::file_size(platform::path_from_utf8(path), unknown);
    if (!unknown) workers_.require_memory(static_cast<double>(size), "Reading `" + path + "` takes");
    Read result = read(path, read_file_or_input(path, kMostFile), sheet.empty() ? flags_.sheet : sheet);
    for (const std::string& note : result.notes) {
      if (!flags_.quiet) print_error(file + ": " + note);
    }
    return opened_.emplace_back(file, std::move(result.table)).second;
  }

  struct Read {
    table::Table table;
    std::vector<std::string> notes;
  };
  Read read(const std::string& file, const std::string& bytes, const std::string& sheet) {
    std::optional<bool> header;
    if (flags_.header) header = true;
    if (flags_.no_header) header = false;
    try {
      if (bytes.starts_with("PK\x03\x04") || bytes.starts_with("\xD0\xCF\x11\xE0")) {
        table::XlsxResult result = table::read_xlsx(bytes, {sheet, header}, workers_);
        return {std::move(result.table), std::move(result.notes)};
      }
      table::CsvOptions options;
      options.header = header;
      if (!flags_.delimiter.empty()) options.delimiter = flags_.delimiter == "\\t" ? '\t' : flags_.delimiter[0];
      options.guess_types = !flags_.texts;
      table::CsvResult result = table::read_csv(bytes, options, workers_);
      return {std::move(result.table), std::move(result.notes)};
    } catch (const table::TableError& error) {
      throw Failure(ExitCode::usage, file + ": " + error.what());
    }
  }

  const Flags& flags_;
  std::vector<std::string> files_;
  table::Workers& workers_;
  std::vector<std::pair<std::string, table::Table>> opened_;
};

std::string shown_cell(const formula::Value& value) {
  std::string text = table::shown_text(value);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  if (display_width(text) <= kMostShownWidth) return text;
  std::size_t end = 0;
  for (std::size_t next = 0; next < text.size() && display_width(text.substr(0, next)) < kMostShownWidth - 2;) {
    end = next;
    formula::next_code_point(text, next);
  }
  return text.substr(0, end) + "...";
}

void print_aligned(const table::Table& result, table::Workers& workers) {
  std::vector<std::string> header;
  for (const table::Field& field : result.fields()) header.push_back(shown_cell(formula::Value(field.name)));
  if (header.empty()) return print("(no columns)\n");
  Table text(header);
  const std::size_t shown = std::min(result.rows(), kMostShownRows);
  for (std::size_t row = 0; row < shown; ++row) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < result.width(); ++i) cells.push_back(shown_cell(result.column(i, workers).value(row)));
    text.add(std::move(cells));
  }
  print(text.text());
  if (result.rows() > shown)
    print("... " + std::to_string(result.rows() - shown) + " more rows; -o FILE writes them all\n");
}

std::string extension_of(const std::string& file) {
  return formula::lower(platform::to_utf8(platform::path_from_utf8(file).extension()));
}

void write_file(const std::string& file, const table::Table& result, table::Workers& workers) {
  const std::filesystem::path path = platform::path_from_utf8(file);
  std::filesystem::path part = path;
  part += ".part";
  std::ofstream stream(part, std::ios::binary);
  if (!stream)
    throw Failure(ExitCode::failure, "The file `" + file + "` cannot be written: check its folder and permissions.");
  std::error_code error;
  const auto write = [&](std::string_view text) {
    if (!stream.write(text.data(), static_cast<std::streamsize>(text.size()))) throw std::ios_base::failure("write");
  };
  try {
    if (extension_of(file) == ".xlsx") {
      table::write_xlsx(result, workers, write);
    } else {
      table::write_csv(result, workers, write);
    }
  } catch (const std::ios_base::failure&) {
    stream.setstate(std::ios::failbit);
  } catch (...) {
    stream.close();
    std::filesystem::remove(part, error);
    throw;
  }
  stream.close();
  if (stream) std::filesystem::rename(part, path, error);
  if (!stream || error) {
    std::filesystem::remove(part, error);
    throw Failure(ExitCode::failure, "Writing the file `" + file + "` failed. Is the disk full?");
  }
}

// What a pipeline is checked for without data. True: that was all.
bool only_checked(const Flags& flags, const std::string& source, const table::Pipeline& pipeline) {
  if (flags.format) print(table::formatted_pipeline(source));
  if (flags.explain) print(table::explained(pipeline, source));
  if (flags.check && !flags.format && !flags.explain) print("The pipeline is well formed.\n");
  return flags.check || flags.format || flags.explain;
}

void require_output_name(const Flags& flags) {
  if (flags.output.empty()) return;
  const std::string extension = extension_of(flags.output);
  if (extension != ".csv" && extension != ".xlsx")
    throw Failure(ExitCode::usage, "`" + flags.output + "` is the name of neither a .csv nor an .xlsx file.");
}

// The pipeline that the model made is shown; at a terminal nothing runs before it is agreed to.
bool agreed_to(const Flags& flags, const std::string& source, const std::vector<std::string>& files) {
  if (flags.yes) return true;
  const std::string shown = table::formatted_pipeline(source);
  std::fwrite(shown.data(), 1, shown.size(), stderr);
  const bool asks = platform::is_terminal(platform::Stream::in) && platform::is_terminal(platform::Stream::error) &&
                    std::ranges::find(files, "-") == files.end();
  if (!asks) return true;
  std::fputs("Run it? [Y/n] ", stderr);
  std::fflush(stderr);
  std::string answer;
  if (!std::getline(std::cin, answer)) return false;
  return answer.empty() || answer[0] == 'y' || answer[0] == 'Y';
}

// Nothing given: what is in use and three quarters of what is free.
std::uint64_t memory_limit(const std::string& text) {
  if (text.empty()) return platform::resident_memory() + platform::available_memory() / 4 * 3;
  return byte_count("--memory", text);
}

ExitCode run_verb(const Flags& flags, std::string& source, std::vector<std::string> files) {
  require_output_name(flags);
  table::Pipeline pipeline;
  if (flags.ask.empty()) {
    pipeline = table::parse_pipeline(source);
    if (only_checked(flags, source, pipeline)) return ExitCode::success;
    const bool opens_its_own = std::holds_alternative<table::From>(pipeline.stages[0].content) ||
                               std::holds_alternative<table::Let>(pipeline.stages[0].content);
    if (files.empty() && !opens_its_own)
      throw Failure(ExitCode::usage, "Give a file behind the pipeline (- for stdin), or begin with from \"FILE\".");
  } else if (files.size() != 1) {
    throw Failure(ExitCode::usage,
                  "--ask takes one file, as in glm table --ask \"total amount per region\" orders.csv.");
  }
  Interrupt interrupt;
  const auto threads =
      static_cast<unsigned>(flags.threads > 0 ? flags.threads : std::max(1u, std::thread::hardware_concurrency()));
  table::Workers workers(threads, &interrupt.flag());
  workers.set_memory_limit({memory_limit(flags.memory), platform::resident_memory});
  Tables tables(flags, files, workers);
  std::optional<TableProgress> progress(std::in_place);
  progress->at("reading");
  auto begin = Clock::now();
  const table::Table input = tables.first();
  table::RunOptions options;
  options.open_table = [&](const std::string& name) { return tables.named(name); };
  options.on_stage = [&](std::size_t stage, std::size_t count, const std::string& word) {
    progress->at("stage " + std::to_string(stage + 1) + " of " + std::to_string(count) + ": " + word);
  };
  double read_s = seconds_since(begin);
  if (!flags.ask.empty()) {
    const TableQuestion question{flags.ask, flags.model, static_cast<std::size_t>(flags.samples), !flags.quiet};
    progress.reset();
    source = asked_pipeline(question, input, workers, interrupt);
    pipeline = table::parse_pipeline(source);
    if (only_checked(flags, source, pipeline) || !agreed_to(flags, source, files)) return ExitCode::success;
    progress.emplace();
  }

  std::vector<double> runs;
  table::RunResult result;
  for (std::int32_t i = 0; i < flags.repeat; ++i) {
    result = {};
    begin = Clock::now();
    result = table::run_pipeline(pipeline, source, input, options, workers);
    runs.push_back(seconds_since(begin));
  }
  progress->at("writing");
  if (flags.output.empty()) progress.reset();  // rows on the same terminal show how far it is
  for (const std::string& note : result.notes) {
    if (!flags.quiet) print_error(note);
  }
  begin = Clock::now();
  if (!flags.output.empty()) {
    write_file(flags.output, result.table, workers);
    progress.reset();
  } else if (platform::is_terminal(platform::Stream::out)) {
    print_aligned(result.table, workers);
  } else {
    table::write_csv(result.table, workers, [](std::string_view text) { print(text); });
  }
  flush();
  const double write_s = seconds_since(begin);
  if (flags.timing) {
    std::ranges::sort(runs);
    const Json line = {{"read_s", read_s},
                       {"run_s", runs[runs.size() / 2]},
                       {"run_min_s", runs.front()},
                       {"write_s", write_s},
                       {"rows_in", input.rows()},
                       {"rows_out", result.table.rows()},
                       {"peak_bytes", platform::peak_resident_memory()},
                       {"threads", threads}};
    const std::string text = line.dump() + "\n";
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
  return ExitCode::success;
}

ExitCode table_verb(VerbArguments arguments) {
  Command command(kText);
  Flags flags;
  command.text("-o,--output", flags.output, "FILE", "Write the result to a file: .csv or .xlsx");
  command.text("--ask", flags.ask, "QUESTION",
               "Let the model write the pipeline; it is shown, and at a terminal asked for");
  command.flag("--yes", flags.yes, "With --ask: run the pipeline without showing it");
  command.number("--samples", flags.samples, 0, 100, "With --ask: how many rows of the table the model is given");
  command.text("-m,--model", flags.model, "NAME", "With --ask: the model (default: as for glm run)");
  command.text("--sheet", flags.sheet, "NAME",
               "The sheet of a workbook to read (default: the first that is not hidden)");
  command.flag("--check", flags.check, "Only say whether the pipeline is well formed; needs no data");
  command.flag("--format", flags.format, "Print the pipeline with one stage a line");
  command.flag("--explain", flags.explain, "Print what each stage does; needs no data");
  command.flag("--timing", flags.timing, "Print times, rows and memory as one line of JSON on stderr");
  command.number("--repeat", flags.repeat, 1, 1'000'000,
                 "Run the pipeline N times on the loaded data; run_s is the median");
  command.text("--memory", flags.memory, "SIZE",
               "Stop with a message before more memory is taken, such as \"2 GiB\" (default: 3/4 of what is free)");
  command.number("--threads", flags.threads, 1, 256, "Threads to compute on (default: all cores)");
  command.text("--delimiter", flags.delimiter, "C", "What divides the fields of a file (default: seen from the file)");
  command.flag("--header", flags.header, "The first row of a file holds names");
  command.flag("--no-header", flags.no_header, "The first row of a file holds data");
  command.flag("--texts", flags.texts, "Guess no types: every cell is a text");
  command.flag("--quiet", flags.quiet, "No notes about what was unusual in a file");
  command.parse(arguments);
  const bool asks = !flags.ask.empty();
  if (command.words().empty() && !asks)
    throw Failure(ExitCode::usage, "Give a pipeline, in quotes. See `glm table --help`.");
  if (!flags.delimiter.empty() && flags.delimiter.size() != 1 && flags.delimiter != "\\t") {
    throw Failure(ExitCode::usage, "A delimiter is one character, or \\t.");
  }
  if (flags.header && flags.no_header) throw Failure(ExitCode::usage, "Give --header or --no-header, not both.");
  std::string source = asks ? std::string() : command.words()[0];
  require_utf8(source, "The pipeline");
  require_utf8(flags.ask, "The question");
  try {
    return run_verb(flags, source, {command.words().begin() + (asks ? 0 : 1), command.words().end()});
  } catch (const formula::SyntaxError& error) {
    throw Failure(ExitCode::usage, sentence_for(error, source));
  } catch (const table::TableError& error) {
    throw Failure(ExitCode::failure, error.what());
  } catch (const table::Cancelled&) {
    throw Failure(ExitCode::cancelled, "Cancelled.");
  }
}

}  // namespace

const Verb kTable = {kText.verb, kText.summary, table_verb};

}  // namespace glmhost::cli
