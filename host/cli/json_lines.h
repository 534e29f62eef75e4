// Files of one JSON value a line (`--batch F`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace glmhost::cli {

inline constexpr std::uint64_t kMostInput = 1ull << 30;  // bytes of a text, a request, or a file of many

// Calls on_line(number, text) for each line that is not empty; numbers count from 1, empty lines included.
void for_each_line(std::string_view text,
                   const std::function<void(std::size_t number, std::string_view line)>& on_line);

}  // namespace glmhost::cli
