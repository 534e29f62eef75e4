// What `format` demands of a string.
#pragma once

#include <string_view>

#include "inference/constraints/dfa.h"

namespace glmhost::constraints {

enum class FormatSupport {
  supported,
  unsupported,  // JSON Schema defines it, and it is refused
  unknown,      // somebody's own: a remark
};

FormatSupport format_support(std::string_view format);

// Of a supported format: the strings that have it. Dates are real days (29 February in leap years alone), times real
// times.
DfaPointer format_dfa(std::string_view format);

}  // namespace glmhost::constraints
