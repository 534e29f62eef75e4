// Watches operator new in this program.
#pragma once

#include <cstddef>

namespace glmhost::model_files {

// The largest single request to operator new since the last reset, in bytes, by any thread.
std::size_t largest_allocation();
void reset_largest_allocation();

}  // namespace glmhost::model_files
