// cases.txt: what Excel makes of an expression, from its documentation.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <string>

#include "excel-addin/formula/evaluator.h"
#include "excel-addin/formula/number_text.h"
#include "excel-addin/formula/parser.h"

namespace glmhost::formula {
namespace {

std::string written(const Value& value) {
  if (value.is_text()) return "\"" + value.text() + "\"";
  if (value.is_number()) return number_to_text(value.number());
  if (value.is_boolean()) return value.boolean() ? "TRUE" : "FALSE";
  if (value.is_error()) return std::string(error_name(value.error()));
  if (value.is_empty()) return "(empty)";
  std::string text = "{";
  for (std::size_t row = 0; row < rows_of(value); ++row) {
    for (std::size_t column = 0; column < columns_of(value); ++column) {
      if (row + column > 0) text += column == 0 ? ";" : ",";
      text += written(cell_of(value, row, column));
    }
  }
  return text + "}";
}

bool same(const Value& got, const Value& wanted) {
  if (rows_of(got) != rows_of(wanted) || columns_of(got) != columns_of(wanted)) return false;
  for (std::size_t i = 0; i < cells_of(got).size(); ++i) {
    const Value &a = cells_of(got)[i], &b = cells_of(wanted)[i];
    if (a.type() != b.type()) return false;
    if (a.is_number() && std::abs(a.number() - b.number()) > 1e-9 * std::max(1.0, std::abs(b.number()))) return false;
    if (!a.is_number() && !exactly_equal(a, b)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("expressions are worth what Excel's documentation says") {
  std::ifstream file(GLMHOST_UNIT_TESTS "/excel-addin/formula/cases.txt");
  REQUIRE(file);
  std::size_t count = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t arrow = line.rfind(" => ");
    REQUIRE_MESSAGE(arrow != std::string::npos, line);
    Context context;
    const Value got = evaluate(parse(line.substr(0, arrow)), context);
    const Value wanted = evaluate(parse(line.substr(arrow + 4)), context);
    CHECK_MESSAGE(same(got, wanted), line << ", but it is " << written(got));
    ++count;
  }
  CHECK(count >= 400);
}

}  // namespace glmhost::formula
