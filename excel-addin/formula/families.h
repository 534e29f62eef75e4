// The families' tables. function.cpp puts them together.
#pragma once

#include <span>

#include "excel-addin/formula/function.h"

namespace glmhost::formula {

std::span<const Function> math_functions();
std::span<const Function> rounding_functions();
std::span<const Function> trigonometry_functions();
std::span<const Function> text_functions();
std::span<const Function> text_search_functions();
std::span<const Function> text_conversion_functions();
std::span<const Function> regex_functions();
std::span<const Function> logical_functions();
std::span<const Function> information_functions();
std::span<const Function> date_functions();
std::span<const Function> workday_functions();
std::span<const Function> lookup_functions();
std::span<const Function> statistics_functions();
std::span<const Function> regression_functions();
std::span<const Function> normal_distribution_functions();
std::span<const Function> distribution_functions();
std::span<const Function> criteria_functions();
std::span<const Function> financial_functions();
std::span<const Function> cash_flow_functions();
std::span<const Function> engineering_functions();
std::span<const Function> complex_functions();
std::span<const Function> array_functions();
std::span<const Function> matrix_functions();
std::span<const Function> summary_functions();
std::span<const Function> test_functions();

}  // namespace glmhost::formula
