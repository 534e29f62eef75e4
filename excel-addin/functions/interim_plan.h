// From a worksheet function and its arguments to the requests that answer it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "excel-addin/formula/value.h"
#include "host/protocol/messages.h"

namespace glmhost::functions {

struct Plan {
  std::vector<protocol::Request> requests;  // not empty
  // From the answers' texts, in the order of the requests, to what the cell gets. A text that is not what was asked for
  // is an error value.
  std::function<formula::Value(const std::vector<std::string>& answers)> assemble;
  std::string note;  // what was left out of the prompt; empty when nothing was
};

struct Refusal {
  formula::ErrorCode error = formula::ErrorCode::value;
  std::string sentence;
};

using Planned = std::variant<Plan, Refusal>;

// Throws nothing but std::bad_alloc. An error value among the arguments is passed on, as Excel's functions do.
Planned make_plan(std::string_view function, const std::vector<formula::Value>& arguments);

}  // namespace glmhost::functions
