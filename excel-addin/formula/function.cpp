#include "excel-addin/formula/function.h"

#include <algorithm>

#include "excel-addin/formula/families.h"
#include "excel-addin/formula/syntax_error.h"
#include "excel-addin/formula/syntax_tree.h"
#include "excel-addin/formula/text_units.h"

namespace glmhost::formula {
namespace {

std::vector<std::string_view> split_parameters(std::string_view parameters) {
  std::vector<std::string_view> parts;
  while (!parameters.empty()) {
    const std::size_t comma = std::min(parameters.find(','), parameters.size());
    parts.push_back(parameters.substr(0, comma));
    parameters.remove_prefix(std::min(comma + 1, parameters.size()));
    while (parameters.starts_with(' ')) parameters.remove_prefix(1);
  }
  return parts;
}

constexpr struct {
  Family family;
  std::span<const Function> (*functions)();
} kFamilies[] = {
    {Family::math, math_functions},
    {Family::math, rounding_functions},
    {Family::trigonometry, trigonometry_functions},
    {Family::text, text_functions},
    {Family::text, text_search_functions},
    {Family::text, text_conversion_functions},
    {Family::regular_expression, regex_functions},
    {Family::logical, logical_functions},
    {Family::information, information_functions},
    {Family::date_and_time, date_functions},
    {Family::date_and_time, workday_functions},
    {Family::lookup, lookup_functions},
    {Family::statistics, statistics_functions},
    {Family::statistics, regression_functions},
    {Family::distribution, normal_distribution_functions},
    {Family::distribution, distribution_functions},
    {Family::criteria, criteria_functions},
    {Family::financial, financial_functions},
    {Family::financial, cash_flow_functions},
    {Family::engineering, engineering_functions},
    {Family::engineering, complex_functions},
    {Family::array, array_functions},
    {Family::array, matrix_functions},
    {Family::database, summary_functions},
    {Family::distribution, test_functions},
};

}  // namespace

std::string_view family_name(Family family) {
  constexpr std::string_view kNames[] = {
      "math",     "trigonometry",  "statistics", "distribution", "text",        "regular expression",
      "logical",  "date and time", "lookup",     "financial",    "information", "engineering",
      "criteria", "array",         "database"};
  return kNames[static_cast<std::size_t>(family)];
}

void Function::read_parameters() {
  auto parts = split_parameters(parameters);
  const bool repeats = !parts.empty() && parts.back() == "...";
  if (repeats) parts.pop_back();
  written_ = parts.size();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].starts_with('[')) arity_.least = i + 1;
    if (parts[i].find('*') != std::string_view::npos) whole_ |= std::uint64_t{1} << i;
  }
  // "value1, result1, [value2], [result2], ..." repeats in pairs.
  const auto ends_in_2 = [&](std::size_t from_end) {
    return parts.size() >= from_end && parts[parts.size() - from_end].find('2') != std::string_view::npos;
  };
  repeated_ = !repeats ? 0 : ends_in_2(2) ? 2 : 1;
  arity_.most = repeats ? kMostArguments : written_;
}

bool Function::takes_whole(std::size_t argument) const {
  if (argument >= written_) {
    if (repeated_ == 0) return false;
    argument = written_ - repeated_ + (argument - written_) % repeated_;
  }
  return (whole_ >> argument & 1) != 0;
}

std::string Function::signature() const {
  std::string text(parameters);
  std::erase(text, '*');
  return std::string(name) + "(" + text + ")";
}

std::vector<std::string> Function::parameter_names() const {
  std::vector<std::string> names;
  for (const std::string_view part : split_parameters(parameters)) {
    std::string each(part);
    std::erase_if(each, [](char c) { return c == '*' || c == '[' || c == ']'; });
    names.push_back(std::move(each));
  }
  return names;
}

class FunctionTable {
 public:
  FunctionTable() {
    for (const auto& [family, functions] : kFamilies) add(functions(), family);
    std::ranges::sort(functions_, {}, &Function::name);
  }
  FunctionTable(std::span<const Function> rows, Family family) { add(rows, family); }
  const std::vector<Function>& functions() const { return functions_; }

 private:
  void add(std::span<const Function> rows, Family family) {
    for (Function function : rows) {
      function.family = family;
      function.read_parameters();
      functions_.push_back(function);
    }
  }

  std::vector<Function> functions_;
};

std::vector<Function> function_rows(std::span<const Function> rows, Family family) {
  return FunctionTable(rows, family).functions();
}

std::span<const Function> all_functions() {
  static const FunctionTable table;
  return table.functions();
}

const Function* find_function(std::string_view name) {
  std::string wanted = upper(name);
  for (const std::string_view prefix : {"_XLFN.", "_XLWS."}) {
    if (wanted.starts_with(prefix)) wanted.erase(0, prefix.size());
  }
  const auto functions = all_functions();
  const auto found = std::ranges::lower_bound(functions, std::string_view(wanted), {}, &Function::name);
  return found != functions.end() && found->name == wanted ? &*found : nullptr;
}

std::string_view nearest_function(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Function& function : all_functions()) names.push_back(function.name);
  return nearest_of(name, names);
}

}  // namespace glmhost::formula
