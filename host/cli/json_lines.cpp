#include "host/cli/json_lines.h"

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

}  // namespace glmhost::cli
