// UTF-16 into UTF-8, straight into memory that is there, and the check of UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace glmhost::ranges {

// Writes at most 3 bytes for each unit and returns how many. An unpaired surrogate becomes U+FFFD.
std::size_t to_utf8(std::u16string_view utf16, char* to);

// Well-formed: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text);

}  // namespace glmhost::ranges
