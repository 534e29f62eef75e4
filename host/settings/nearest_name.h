// The name a person most likely meant.
#pragma once

#include <span>
#include <string_view>

namespace glmhost::settings {

// The candidate with the fewest edits (insert, delete, replace, swap of neighbours; ASCII case ignored) when there are
// few enough of them to be a slip: at most a third of the longer name, and never all of it. Empty when nothing is near.
std::string_view nearest_name(std::string_view written, std::span<const std::string_view> candidates);

}  // namespace glmhost::settings
