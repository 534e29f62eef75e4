// The few operations of Python's str and json that the vendors' templates are written in.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace glmhost::jinja {

using Json = nlohmann::ordered_json;  // templates print keys in the order given

// str.strip(): Unicode white space at both ends. Bytes that are not UTF-8 count as no white space.
std::string_view strip(std::string_view text);

// Bytes of the white space at the beginning (or end) of the text; 0 when there is none.
std::size_t leading_blank(std::string_view text);
std::size_t trailing_blank(std::string_view text);

std::string_view strip_left(std::string_view text, char byte);
std::string_view strip_right(std::string_view text, char byte);

// json.dumps(value, ensure_ascii=False, indent=indent): ", " and ": " between items, keys in the given order, floats as
// repr() prints them. indent 0 is one line. The value is nested at most a few hundred deep (the caller checks).
std::string dump(const Json& value, int indent = 0);

// repr() of a float as json.dumps writes it: the shortest digits that read back as the same number; NaN, Infinity.
std::string repr(double value);

}  // namespace glmhost::jinja
