#include "host/cli/table_ask.h"

#include <algorithm>
#include <utility>

#include "excel-addin/formula/text_units.h"
#include "excel-addin/table/csv_writer.h"
#include "excel-addin/table/pipeline_grammar.h"
#include "host/cli/answer.h"
#include "host/cli/console.h"
#include "host/cli/daemon_access.h"
#include "host/cli/exit_code.h"
#include "host/cli/json_text.h"

namespace glmhost::cli {
namespace {

constexpr std::size_t kMostCell = 40;           // bytes of a sample cell
constexpr std::size_t kMostAskedColumns = 300;  // more would fill the model's context

table::AskedType type_of(const table::Column& column) {
  switch (column.type()) {
    case table::ColumnType::number:
      return column.kind() == formula::NumberKind::plain ? table::AskedType::number : table::AskedType::date;
    case table::ColumnType::text:
      return table::AskedType::text;
    case table::ColumnType::boolean:
      return table::AskedType::boolean;
    default:
      return table::AskedType::other;
  }
}

std::string sample_cell(const formula::Value& value) {
  std::string text = table::shown_text(value);
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20; }, ' ');
  if (text.size() > kMostCell) text = formula::valid_utf8(text.substr(0, kMostCell)) + "...";
  return value.is_text() ? "\"" + text + "\"" : text;
}

std::string described(const std::vector<table::AskedColumn>& columns, const table::Table& table, std::size_t samples,
                      table::Workers& workers) {
  constexpr const char* kTypes[] = {"number", "date", "text", "boolean", "mixed"};
  std::string text = "Columns:";
  for (std::size_t i = 0; i < columns.size(); ++i)
    text += (i > 0 ? ", " : " ") + columns[i].spelling + " (" + kTypes[static_cast<int>(columns[i].type)] + ")";
  text += "\n";
  for (std::size_t row = 0; row < samples; ++row) {
    text += "Row:";
    for (std::size_t i = 0; i < columns.size(); ++i)
      text += (i > 0 ? ", " : " ") + columns[i].spelling + " = " + sample_cell(table.column(i, workers).value(row));
    text += "\n";
  }
  return text;
}

}  // namespace

std::string asked_pipeline(const TableQuestion& question, const table::Table& table, table::Workers& workers,
                           Interrupt& interrupt) {
  if (table.width() == 0) throw Failure(ExitCode::usage, "The table has no columns to ask about.");
  if (table.width() > kMostAskedColumns) {
    throw Failure(ExitCode::usage, "The table has " + std::to_string(table.width()) + " columns; " +
                                       std::to_string(kMostAskedColumns) +
                                       " are the most that a question may be about. Select some first.");
  }
  std::vector<table::AskedColumn> columns;
  for (std::size_t i = 0; i < table.width(); ++i)
    columns.push_back(
        {table::column_spelling(formula::valid_utf8(table.name(i)), i), type_of(table.column(i, workers))});
  const std::size_t samples = std::min(question.sample_rows, table.rows());

  protocol::Request request;
  request.model = question.model;
  request.messages = conversation(std::string(table::pipeline_primer()));
  request.messages.push_back(
      {{"role", "user"}, {"content", described(columns, table, samples, workers) + "Question: " + question.words}});
  request.form = protocol::OutputForm{protocol::OutputForm::Kind::grammar, table::pipeline_grammar(columns), {}};
  request.enable_thinking = false;
  if (question.says_what_is_sent) {
    print_error("The model is given the names and types of " + std::to_string(columns.size()) +
                (columns.size() == 1 ? " column, " : " columns, ") + std::to_string(samples) +
                (samples == 1 ? " row" : " rows") + " of the table, and the question.");
  }
  const auto client = connect(WithoutDaemon::start);
  const protocol::Outcome outcome = stream_answer(*client, request, {.print = false}, interrupt);
  const protocol::Result result = require_result(outcome);
  if (result.finish_reason == "length" || result.finish_reason == "context") {
    throw Failure(ExitCode::incomplete,
                  "The model came to no end of its pipeline. Ask in other words, or name a larger model with -m.");
  }
  return result.content;
}

}  // namespace glmhost::cli
