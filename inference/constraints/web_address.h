// References between documents, as RFC 3986 section 5.2 resolves them.
#pragma once

#include <string>
#include <string_view>

namespace glmhost::constraints {

// REFERENCE seen from BASE; without a fragment.
std::string resolve_address(std::string_view base, std::string_view reference);

// %HH of a fragment turned into bytes.
std::string decode_percent(std::string_view text);

}  // namespace glmhost::constraints
