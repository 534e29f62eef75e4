#include "vscode-bridge/server/completion/situation.h"

#include <algorithm>

namespace glmhost::completion {

std::string_view Situation::line_before() const {
  const std::size_t line = prefix.rfind('\n');
  return std::string_view(prefix).substr(line == std::string::npos ? 0 : line + 1);
}

std::string_view Situation::line_behind() const {
  return std::string_view(suffix).substr(0, std::min(suffix.find('\n'), suffix.size()));
}

std::string with_plain_line_ends(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      out += text[i];
    } else {
      out += '\n';
      if (i + 1 < text.size() && text[i + 1] == '\n') ++i;
    }
  }
  return out;
}

std::size_t window_begin(std::size_t cursor) {
  if (cursor <= kMostPrefix) return 0;
  return (cursor - kMostPrefix + kWindowStep - 1) / kWindowStep * kWindowStep;
}

bool is_only_closers(std::string_view line) {
  return line.find_first_not_of(" \t)]}>\"'`,;:") == std::string_view::npos;
}

std::string scope_of(const Situation& situation) {
  const std::string_view behind = situation.line_behind();
  std::string_view rest = situation.suffix;
  if (is_only_closers(behind)) rest.remove_prefix(behind.size());
  return situation.uri + '\n' + situation.language + '\n' + std::string(rest.substr(0, 512)) + '\0';
}

}  // namespace glmhost::completion
