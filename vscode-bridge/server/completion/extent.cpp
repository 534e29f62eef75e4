#include "vscode-bridge/server/completion/extent.h"

#include <algorithm>
#include <set>
#include <string>

namespace glmhost::completion {
namespace {

constexpr std::string_view kBlanks = " \t\r\f\v";

bool opens_block(std::string_view line) {
  line = trimmed(line);
  if (line.empty()) return false;
  return std::string_view("{([:").find(line.back()) != std::string_view::npos || line.ends_with("=>") ||
         line.ends_with("->") || line.ends_with(" do") || line.ends_with(" then");
}

bool closes(std::string_view line) {
  return line.starts_with('}') || line.starts_with(')') || line.starts_with(']') || line == "end" ||
         line.starts_with("end ") || line == "fi" || line == "done" || line == "esac";
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string_view indentation(std::string_view line) {
  return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
}

std::size_t columns(std::string_view blanks) {
  std::size_t column = 0;
  for (const char c : blanks) column = c == '\t' ? (column / 4 + 1) * 4 : column + 1;
  return column;
}

std::string_view first_line_with_text(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    if (!line.empty()) return line;
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return {};
}

Extent choose_extent(const Situation& situation) {
  if (!trimmed(situation.line_behind()).empty()) return Extent::line;
  const std::string_view before = situation.line_before();
  return trimmed(before).empty() || opens_block(before) ? Extent::block : Extent::line;
}

std::optional<std::size_t> find_end(std::string_view answer, Extent extent, const Situation& situation) {
  if (extent == Extent::line) {
    const std::size_t line = answer.find('\n');
    return line == std::string_view::npos ? std::nullopt : std::optional(line);
  }
  const std::string_view before = situation.line_before();
  const bool is_inside = !trimmed(before).empty();  // the block opens on the cursor's own line
  const std::size_t own = columns(indentation(before));
  const std::string_view below = first_line_with_text(
      std::string_view(situation.suffix).substr(std::min(situation.line_behind().size(), situation.suffix.size())));
  std::set<std::string_view> seen;
  std::size_t lines = 0;
  std::size_t texts = 0;
  for (std::size_t begin = 0; begin < answer.size(); ++lines) {
    const std::size_t end = answer.find('\n', begin);
    const bool complete = end != std::string_view::npos;
    const std::string_view line = answer.substr(begin, complete ? end - begin : answer.size() - begin);
    const std::string_view text = trimmed(line);
    const std::size_t cut = begin == 0 ? 0 : begin - 1;  // without the line end before it
    if (lines >= kMostLines) return cut;
    if (text.empty()) {
      if (complete && texts > 0) return cut;
    } else {
      const bool is_first = lines == 0;
      const std::size_t indented = columns(indentation(line));
      if (!is_first && is_inside && indented <= own) {
        // The bracket that ends the block belongs to it.
        return complete && closes(text) && indented == own ? end
               : complete || !closes(text)                 ? std::optional(cut)
                                                           : std::nullopt;
      }
      if (!is_first && !is_inside && indented < own) return cut;
      if (complete && texts > 0 && text.size() > 2 && text == below) return cut;
      if (complete && text.size() > 8 && !seen.insert(text).second) return cut;
      ++texts;
    }
    if (!complete) break;
    begin = end + 1;
  }
  return std::nullopt;
}

}  // namespace glmhost::completion
