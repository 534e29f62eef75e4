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
  std::size_t lines = 0, refused = 0;
  std::string first;
  for_each_line(text, [&](std::size_t number, std::string_view line) {
    const auto note = [&](std::string_view sentence) {
      if (++refused > 1) return;
      first = sentence.starts_with("Line ") ? "" : "Line " + std::to_string(number) + ": ";
      first += sentence;
    };
    std::string out;
    ++lines;
    try {
      out = answer(number, line);
    } catch (const BadLine& bad) {
      out = bad.output;
      note(bad.sentence);
    } catch (const std::exception& error) {
      // ASCII: a reader that takes U+2028 or U+0085 for a line end still finds one value a line.
      out = Json{{"error", error.what()}}.dump(-1, ' ', true, Json::error_handler_t::replace);
      note(error.what());
    }
    print(out + "\n");
  });
  if (refused == 0) return ExitCode::success;
  flush();
  print_error(std::to_string(refused) + " of " + std::to_string(lines) + (lines == 1 ? " line" : " lines") +
              " cannot be used; the output has the errors in their places. " + first);
  return ExitCode::usage;
}

}  // namespace glmhost::cli
