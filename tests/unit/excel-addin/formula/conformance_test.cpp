// Excel's own answers: ../shared/vectors/functions holds formulas and the values that Excel gave them. Every miss has
// its reason in known_misses.txt; a miss that is not there fails the test, and so does one that is there without need.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "excel-addin/formula/cell_address.h"
#include "excel-addin/formula/evaluator.h"
#include "excel-addin/formula/parser.h"

namespace glmhost::formula {
namespace {

using Json = nlohmann::json;

struct Count {
  std::size_t right = 0, all = 0;
  double percent() const { return all == 0 ? 100 : 100.0 * static_cast<double>(right) / static_cast<double>(all); }
};

Value value_of(const Json& cell) {
  if (cell.is_null()) return {};
  const std::string type = cell[0];
  if (type == "number") return cell[1].get<double>();
  if (type == "boolean") return cell[1].get<bool>();
  if (type == "error") return error_named(cell[1].get<std::string>()).value_or(ErrorCode::unknown);
  return cell[1].get<std::string>();
}

using Cells = std::map<std::pair<std::uint32_t, std::uint32_t>, Value>;

// Whole columns and rows are cut to the cells in use.
Value read(const Cells& cells, Area area) {
  std::uint32_t last_row = area.first_row, last_column = area.first_column;
  for (const auto& [place, value] : cells) {
    last_row = std::max(last_row, place.first);
    last_column = std::max(last_column, place.second);
  }
  if (area.last_row == kMostRows - 1) area.last_row = last_row;
  if (area.last_column == kMostColumns - 1) area.last_column = last_column;
  Array array(area.rows(), area.columns());
  for (std::uint32_t row = 0; row < area.rows(); ++row) {
    for (std::uint32_t column = 0; column < area.columns(); ++column) {
      const auto cell = cells.find({area.first_row + row, area.first_column + column});
      if (cell != cells.end()) array(row, column) = cell->second;
    }
  }
  array.set_area(area);
  return Value(std::move(array));
}

std::string shown(const Value& value) {
  switch (value.type()) {
    case Type::number: {
      std::ostringstream text;
      text << std::setprecision(17) << value.number();
      return text.str();
    }
    case Type::text:
      return "\"" + value.text() + "\"";
    case Type::boolean:
      return value.boolean() ? "TRUE" : "FALSE";
    case Type::error:
      return std::string(error_name(value.error()));
    case Type::empty:
      return "(empty)";
    default:
      return shown(value.scalar()) + " (array)";
  }
}

bool agrees(const Value& any, const Json& expected) {
  const Value& value = any.scalar();
  const std::string type = expected["type"];
  if (type == "error") return value.is_error() && error_name(value.error()) == expected["value"].get<std::string>();
  if (type == "boolean") return value.is_boolean() && value.boolean() == expected["value"].get<bool>();
  if (type == "text")
    return (value.is_text() ? value.text() : value.is_empty() ? "" : "\x01") == expected["value"].get<std::string>();
  if (!value.is_number() && !value.is_empty()) return false;
  const double wanted = expected["value"].get<double>(), got = value.is_empty() ? 0 : value.number();
  const double tolerance = expected.value("tol", 1e-9);
  return std::abs(got - wanted) <= tolerance * std::max(std::abs(wanted), 1e-3);
}

// Cells of other sheets are written X1_A1 in the data: X1!A1.
std::string with_sheets(const std::string& formula) {
  static const std::regex range("(X[0-9]+)_([A-Z]+[0-9]+):X[0-9]+_([A-Z]+[0-9]+)"), cell("(X[0-9]+)_([A-Z]+[0-9]+)");
  return std::regex_replace(std::regex_replace(formula, range, "$1!$2:$3"), cell, "$1!$2");
}

Value evaluated(const Json& test) {
  std::map<std::string, Cells> sheets;
  if (test.contains("cells")) {
    for (const auto& [address, cell] : test["cells"].items()) {
      const std::size_t underscore = address.find('_');
      const bool elsewhere = underscore != std::string::npos;
      const auto part = parse_address_part(elsewhere ? address.substr(underscore + 1) : address);
      REQUIRE(part);
      sheets[elsewhere ? address.substr(0, underscore) : ""][{*part->row, *part->column}] = value_of(cell);
    }
  }
  Context context;
  context.read_cells = [&](const Area& area) { return read(sheets[area.sheet], area); };
  context.random.seed(1);
  try {
    return evaluate(parse(with_sheets(test["formula"].get<std::string>())), context);
  } catch (const SyntaxError& error) {
    return Value("syntax error: " + std::string(error.what()));
  }
}

// Formula -> our reason.
std::map<std::string, std::string> known_misses() {
  std::map<std::string, std::string> known;
  std::ifstream file(GLMHOST_UNIT_TESTS "/excel-addin/formula/known_misses.txt");
  for (std::string line; std::getline(file, line);) {
    const std::size_t tab = line.find('\t');
    if (!line.empty() && line[0] != '#' && tab != std::string::npos) known[line.substr(0, tab)] = line.substr(tab + 1);
  }
  return known;
}

// Of a formula's text: known_misses.txt holds no formulas of others.
std::string fingerprint(const std::string& formula) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : formula) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::ostringstream text;
  text << std::hex << std::setw(16) << std::setfill('0') << hash;
  return text.str();
}

}  // namespace

TEST_CASE("functions give what Excel gives") {
  const auto folder = std::filesystem::path(GLMHOST_SHARED_DATA) / "vectors" / "functions";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: there is no " << folder.string());
    return;
  }
  const auto known = known_misses();
  std::set<std::string> met;
  std::map<std::string, Count> by_function;
  Count sure, core, everything;
  const char* list = std::getenv("GLMHOST_LIST_MISSES");  // a file to write all misses to
  std::ofstream misses(list != nullptr ? list : "");
  for (const char* name : {"cases.jsonl", "cells.jsonl"}) {
    std::ifstream file(folder / name);
    REQUIRE(file);
    for (std::string line; std::getline(file, line);) {
      const Json test = Json::parse(line);
      const std::string formula = test["formula"];
      INFO(formula);
      const Value value = evaluated(test);
      const bool right = agrees(value, test);
      const auto count = [&](Count& each) {
        each.all += 1;
        each.right += right ? 1 : 0;
      };
      const bool is_core = test["core"];
      count(everything);
      if (is_core) count(core);
      if (is_core) count(by_function[test["fn"]]);
      if (is_core && test.value("sure", false) && !test.value("array", false)) count(sure);
      if (!right) {
        misses << test["fn"].get<std::string>() << '\t'
               << (is_core ? (test.value("sure", true) ? "sure" : "core") : "other") << '\t' << formula << '\t'
               << test["value"].dump() << '\t' << shown(value) << '\t' << fingerprint(formula) << '\t'
               << test.value("cells", Json()).dump() << '\n';
      }
      if (right || !is_core) continue;
      const std::string print = fingerprint(formula);
      met.insert(print);
      if (!known.contains(print)) {
        FAIL_CHECK("a new miss: " << formula << " gave " << shown(value) << ", Excel " << test["value"].dump()
                                  << "; cells " << test.value("cells", Json()).dump() << "; fingerprint " << print);
      }
    }
  }
  for (const auto& entry : known) {
    const auto& print = entry.first;
    const auto& reason = entry.second;
    CHECK_MESSAGE(met.contains(print), "known_misses.txt names " << print << " (" << reason << "), which is no miss");
  }
  std::ostringstream table;
  for (const auto& [name, count] : by_function) {
    if (count.right != count.all) table << "\n  " << name << ' ' << count.right << " of " << count.all;
  }
  MESSAGE("core, sure, without arrays: " << sure.right << " of " << sure.all << "; core: " << core.right << " of "
                                         << core.all << "; all: " << everything.right << " of " << everything.all
                                         << "; core functions with a miss:" << table.str());
  CHECK(sure.percent() >= 99.5);
  CHECK(core.percent() >= 98);
}

}  // namespace glmhost::formula
