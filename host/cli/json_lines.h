// Files of one input a line (`tokenize --batch`, `render --batch`, `eval --file`), and what is printed for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "host/cli/exit_code.h"

namespace glmhost::cli {

inline constexpr std::uint64_t kMostInput = 1ull << 30;  // bytes of a text, a request, or a file of many

// Calls on_line(number, text) for each line that is not empty; numbers count from 1, empty lines included.
void for_each_line(std::string_view text,
                   const std::function<void(std::size_t number, std::string_view line)>& on_line);

// Thrown for a line whose {"error": ...} has more to say.
struct BadLine {
  std::string output;
  std::string sentence;
};

// Prints one line of output for each line of input that is not empty: what `answer` gives (without a line end), or, for
// a line that it refuses with BadLine, an Error, a Failure or another exception, {"error": "..."}; the lines after it
// are answered all the same. Gives ExitCode::usage when there was such a line. What it throws for output that cannot be
// written passes through.
ExitCode answer_each_line(std::string_view text,
                          const std::function<std::string(std::size_t number, std::string_view line)>& answer);

}  // namespace glmhost::cli
