#include "host/cli/json_lines.h"

#include <exception>

#include "host/cli/console.h"
#include "host/cli/json_text.h"

namespace glmhost::cli {

void for_each_line(std::string_view text,
                   const std::function<void(std::size_t number, std::string_view line)>& on_line) {
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number;
    if (line.find_first_not_of(" \t") != std::string_view::npos) on_line(number, line);
  }
}

ExitCode answer_each_line(std::string_view text,
                          const std::function<std::string(std::size_t number, std::string_view line)>& answer) {
  ExitCode code = ExitCode::success;
  for_each_line(text, [&](std::size_t number, std::string_view line) {
    std::string out;
    try {
      out = answer(number, line);
    } catch (const BadLine& bad) {
      out = bad.output;
      code = ExitCode::usage;
    } catch (const std::exception& error) {
      // ASCII: a reader that takes U+2028 or U+0085 for a line end still finds one value a line.
      out = Json{{"error", error.what()}}.dump(-1, ' ', true, Json::error_handler_t::replace);
      code = ExitCode::usage;
    }
    print(out + "\n");
  });
  return code;
}

}  // namespace glmhost::cli
