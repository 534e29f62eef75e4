// The few operations of Python's str and json that the vendors' templates are written in.
#pragma once

#include <string>
#include <string_view>

#include "inference/chat/template.h"

namespace glmhost::chat {

// str.strip(): Unicode white space at both ends. Bytes that are not UTF-8 count as no white space.
std::string_view strip(std::string_view text);

std::string_view strip_left(std::string_view text, char byte);
std::string_view strip_right(std::string_view text, char byte);

// json.dumps(value, ensure_ascii=False, indent=indent): ", " and ": " between items, keys in the given order, floats as
// repr() prints them. indent 0 is one line. The value is nested at most kMaxNesting deep (checked with the request).
std::string dump(const Json& value, int indent = 0);

// repr() of a float: the shortest digits that read back as the same number.
std::string repr(double value);

}  // namespace glmhost::chat
