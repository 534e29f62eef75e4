#include "excel-addin/formula/syntax_error.h"

#include <utf8proc.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "excel-addin/formula/text_units.h"

namespace glmhost::formula {
namespace {

std::size_t width_of(std::uint32_t c) {
  const int width = utf8proc_charwidth(static_cast<utf8proc_int32_t>(c));
  return width > 0 ? static_cast<std::size_t>(width) : 0;
}

std::size_t line_start(std::string_view source, std::size_t offset) {
  const auto before = source.substr(0, offset).rfind('\n');
  return before == std::string_view::npos ? 0 : before + 1;
}

// Steps over bytes inside of a character.
bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// Edits between two names, a swap of neighbours counting as one.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last, last(b.size() + 1), current(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before_last[j - 2] + 1);
      }
    }
    before_last = last;
    last = current;
  }
  return last[b.size()];
}

}  // namespace

Position position_of(std::string_view source, std::size_t offset) {
  offset = std::min(offset, source.size());
  const std::string_view before = source.substr(0, offset);
  Position position;
  position.line = static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1;
  const std::string_view in_line = before.substr(line_start(source, offset));
  position.column = static_cast<std::size_t>(std::ranges::count_if(in_line, [](char c) { return !continues(c); })) + 1;
  return position;
}

std::string caret_text(std::string_view source, std::size_t offset, std::size_t length) {
  constexpr std::size_t kContext = 60;  // bytes shown on each side
  offset = std::min(offset, source.size());
  std::size_t start = line_start(source, offset);
  std::size_t end = std::min(source.find('\n', offset), source.size());
  const std::size_t line_end = end;
  bool cut_before = false;
  if (offset - start > kContext) {
    start = offset - kContext;
    while (start < offset && continues(source[start])) ++start;
    cut_before = true;
  }
  if (end - offset > kContext) {
    end = offset + kContext;
    while (end < line_end && continues(source[end])) ++end;
  }
  std::string shown = cut_before ? "..." : "";
  std::size_t before = shown.size(), marked = 0;
  for (std::size_t i = start; i < end;) {
    const std::size_t at = i;
    std::uint32_t c = next_code_point(source, i);
    if (c < 0x20 || c == 0x7F) c = ' ';  // a control character would move the caret
    append_utf8(shown, c);
    if (at < offset)
      before += width_of(c);
    else if (at < offset + length)
      marked += width_of(c);
  }
  if (end < line_end) shown += "...";
  return shown + "\n" + std::string(before, ' ') + "^" + std::string(marked > 1 ? marked - 1 : 0, '~') + "\n";
}

std::string_view nearest_of(std::string_view name, const std::vector<std::string_view>& candidates) {
  constexpr std::size_t kLongest = 64;
  if (name.size() > kLongest) return {};
  const std::string wanted = upper(name);
  std::string_view best;
  std::size_t least = std::max<std::size_t>(1, wanted.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > wanted.size() + least || wanted.size() > candidate.size() + least) continue;
    const std::size_t edits = distance(wanted, upper(candidate));
    if (edits < least) {
      least = edits;
      best = candidate;
    }
  }
  return best;
}

}  // namespace glmhost::formula
