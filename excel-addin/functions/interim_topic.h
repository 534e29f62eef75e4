// The topic of a question from its values.
#pragma once

#include <vector>

#include "excel-addin/formula/value.h"
#include "excel-addin/functions/argument.h"
#include "excel-addin/functions/catalogue.h"
#include "excel-addin/functions/topic.h"

namespace glmhost::functions {

// The places of arrays do not count, only what is in their cells.
Topic topic_of(FunctionId function, const std::vector<Value>& arguments);

}  // namespace glmhost::functions
