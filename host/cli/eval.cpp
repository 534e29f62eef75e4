#include <algorithm>
#include <cmath>
#include <optional>

#include "excel-addin/formula/evaluator.h"
#include "excel-addin/formula/number_format.h"
#include "excel-addin/formula/number_text.h"
#include "excel-addin/formula/parser.h"
#include "excel-addin/formula/text_units.h"
#include "host/cli/command.h"
#include "host/cli/console.h"
#include "host/cli/json_lines.h"
#include "host/cli/json_text.h"
#include "host/cli/verbs.h"

namespace glmhost::cli {
namespace {

constexpr CommandText kText = {
    .verb = "eval",
    .words = "[EXPRESSION...]",
    .summary = "Compute an expression with Excel's functions",
    .details =
        "Operators, functions and errors are Excel's (en-US, 1900 dates); there are no cells. An array is printed row "
        "by row, its cells divided by tabs. --json prints {\"type\": ..., \"value\": ...}: the type is number, text, "
        "boolean, date (the value is the serial day), error, empty or array (rows of such objects). --file takes one "
        "expression a line and prints a line for each that is not empty; a wrong one becomes {\"error\": ..., "
        "\"column\": ...}, and the exit code is 2 then. An expression that begins with - goes behind --.",
    .examples =
        "  glm eval 'PMT(5%/12, 360, 250000)'\n"
        "  glm eval 'TEXT(EOMONTH(DATE(2026,1,15),0),\"d mmmm yyyy\")'\n"
        "  glm eval -- -2^2\n"
        "  glm eval --file formulas.txt --json\n"
        "  echo 'XLOOKUP(\"b\",{\"a\",\"b\"},{1,2})' | glm eval --file -",
};

std::string json_type(const formula::Value& value) {
  switch (value.type()) {
    case formula::Type::number:
      return value.kind() == formula::NumberKind::plain || value.kind() == formula::NumberKind::time ? "number"
                                                                                                     : "date";
    case formula::Type::text:
      return "text";
    case formula::Type::boolean:
      return "boolean";
    case formula::Type::error:
      return "error";
    case formula::Type::array:
      return "array";
    default:
      return "empty";
  }
}

Json value_json(const formula::Value& value) {
  Json content = nullptr;
  switch (value.type()) {
    case formula::Type::number: {
      // Whole numbers without a point, as they would be written.
      constexpr double kMostWhole = 1e15;
      const double number = value.number();
      if (number == std::floor(number) && std::abs(number) < kMostWhole)
        content = static_cast<std::int64_t>(number);
      else
        content = number;
      break;
    }
    case formula::Type::text:
      content = formula::valid_utf8(value.text());
      break;
    case formula::Type::boolean:
      content = value.boolean();
      break;
    case formula::Type::error:
      content = formula::error_name(value.error());
      break;
    case formula::Type::array: {
      const formula::Array& array = value.array();
      content = Json::array();
      for (std::size_t row = 0; row < array.rows(); ++row) {
        Json cells = Json::array();
        for (std::size_t column = 0; column < array.columns(); ++column)
          cells.push_back(value_json(array(row, column)));
        content.push_back(std::move(cells));
      }
      break;
    }
    default:
      break;
  }
  return {{"type", json_type(value)}, {"value", std::move(content)}};
}

std::string_view format_of(formula::NumberKind kind) {
  switch (kind) {
    case formula::NumberKind::date:
      return "yyyy-mm-dd";
    case formula::NumberKind::time:
      return "hh:mm:ss";
    default:
      return "yyyy-mm-dd hh:mm:ss";
  }
}

std::string plain_text(const formula::Value& value) {
  switch (value.type()) {
    case formula::Type::number: {
      if (value.kind() == formula::NumberKind::plain) return formula::number_to_text(value.number());
      const formula::Value shown = formula::formatted(value, format_of(value.kind()));
      return shown.is_text() ? shown.text() : formula::number_to_text(value.number());
    }
    case formula::Type::text:
      return formula::valid_utf8(value.text());
    case formula::Type::boolean:
      return value.boolean() ? "TRUE" : "FALSE";
    case formula::Type::error:
      return std::string(formula::error_name(value.error()));
    case formula::Type::array: {
      const formula::Array& array = value.array();
      std::string text;
      for (std::size_t row = 0; row < array.rows(); ++row) {
        if (row > 0) text += '\n';
        for (std::size_t column = 0; column < array.columns(); ++column) {
          if (column > 0) text += '\t';
          text += plain_text(array(row, column));
        }
      }
      return text;
    }
    default:
      return "";
  }
}

formula::Value computed(std::string_view expression) {
  formula::Context context;
  return formula::evaluate(formula::parse(expression), context);
}

// The place, the expression with a caret below it, and what is wrong.
std::string sentence_for(const formula::SyntaxError& error, std::string_view expression,
                         std::optional<std::size_t> line) {
  const formula::Position position = formula::position_of(expression, error.offset());
  std::string place = "The expression cannot be read at ";
  if (line || position.line > 1) place += "line " + std::to_string(line.value_or(position.line)) + ", ";
  return place + "column " + std::to_string(position.column) + ":\n" +
         formula::caret_text(expression, error.offset(), error.length()) + error.what();
}

// A value of several rows stays one line.
std::string in_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

ExitCode evaluate_lines(const std::string& text, bool json) {
  return answer_each_line(text, [&](std::size_t number, std::string_view line) -> std::string {
    require_utf8(line, "Line " + std::to_string(number));
    try {
      const formula::Value value = computed(line);
      return json ? value_json(value).dump() : in_one_line(plain_text(value));
    } catch (const formula::SyntaxError& error) {
      const auto column = formula::position_of(line, error.offset()).column;
      const Json out = {{"error", error.what()}, {"column", column}};
      throw BadLine{out.dump(-1, ' ', true, Json::error_handler_t::replace), sentence_for(error, line, number)};
    }
  });
}

ExitCode eval(VerbArguments arguments) {
  Command command(kText);
  std::string file;
  bool json = false;
  command.text("-f,--file", file, "FILE", "Take one expression a line from a file; - for stdin");
  command.flag("--json", json, "Print {\"type\", \"value\"}");
  command.parse(arguments);
  if (command.words().empty() != command.given("--file")) {
    throw Failure(ExitCode::usage, "Give one expression, in quotes, or a file of expressions with --file.");
  }
  if (command.given("--file")) return evaluate_lines(read_file_or_input(file, kMostInput), json);

  std::string expression;
  for (const std::string& word : command.words()) expression += (expression.empty() ? "" : " ") + word;
  require_utf8(expression, "The expression");
  try {
    const formula::Value value = computed(expression);
    print((json ? value_json(value).dump() : plain_text(value)) + "\n");
    return ExitCode::success;
  } catch (const formula::SyntaxError& error) {
    throw Failure(ExitCode::usage, sentence_for(error, expression, std::nullopt));
  }
}

}  // namespace

const Verb kEval = {kText.verb, kText.summary, eval};

}  // namespace glmhost::cli
