// The name of a question: equal for equal functions and arguments, different for all others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "excel-addin/formula/value.h"

namespace glmhost::xll {

// 32 hexadecimal digits. The places of arrays do not count, only what is in their cells.
std::string topic_name(std::string_view function, const std::vector<formula::Value>& arguments);

}  // namespace glmhost::xll
