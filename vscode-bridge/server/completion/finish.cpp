#include "vscode-bridge/server/completion/finish.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace glmhost::completion {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         (static_cast<unsigned char>(c) & 0x80) != 0;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (true) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

std::string joined(const std::vector<std::string_view>& lines) {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) text += '\n';
    text += lines[i];
  }
  return text;
}

std::string_view below(const Situation& situation) {
  return std::string_view(situation.suffix).substr(situation.line_behind().size());
}

char opener_of(char closer) {
  return closer == ')' ? '(' : closer == ']' ? '[' : '{';
}

// Reads brackets; texts in quotes are passed over, to the line's end at most, and so are comments behind // and #.
class Brackets {
 public:
  explicit Brackets(std::string_view language)
      : hash_comments_(language == "python" || language == "ruby" || language == "shellscript" || language == "yaml") {}

  // Where the first closer stands that closes nothing.
  std::optional<std::size_t> read(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == '\n') {
        quote_ = 0;
        comment_ = false;
      } else if (comment_) {
        continue;
      } else if (quote_ != 0) {
        if (c == '\\') ++i;
        if (c == quote_) quote_ = 0;
      } else if (c == '"' || c == '`' || (c == '\'' && !(last_ != 0 && is_word(last_)))) {
        quote_ = c;
      } else if ((c == '#' && hash_comments_) || (c == '/' && last_ == '/')) {
        comment_ = true;
      } else if (c == '(' || c == '[' || c == '{') {
        open_.push_back(c);
      } else if (c == ')' || c == ']' || c == '}') {
        if (open_.empty() || open_.back() != opener_of(c)) return i;
        open_.pop_back();
      }
      last_ = c;
    }
    return std::nullopt;
  }

  // Like read(), but a closer without its opener is forgiven: the opener may lie before the window.
  void read_context(std::string_view text) {
    while (const auto stray = read(text)) {
      const char closer = text[*stray];
      const auto opener = std::find(open_.rbegin(), open_.rend(), opener_of(closer));
      if (opener != open_.rend()) open_.erase(opener.base() - 1, open_.end());
      text.remove_prefix(*stray + 1);
    }
  }

  const std::vector<char>& open() const { return open_; }

  // The closers that a text behind the cursor has without their openers are those of the outermost brackets.
  void leave_outermost(std::size_t count) {
    open_.erase(open_.begin(), open_.begin() + static_cast<std::ptrdiff_t>(std::min(count, open_.size())));
  }

 private:
  std::vector<char> open_;
  char quote_ = 0;
  char last_ = 0;
  bool comment_ = false;
  bool hash_comments_;
};

std::size_t stray_closers(std::string_view text, std::string_view language) {
  std::size_t count = 0;
  for (Brackets brackets(language); const auto stray = brackets.read(text); ++count) text.remove_prefix(*stray + 1);
  return count;
}

struct Indent {
  bool tabs = false;
  std::size_t width = 4;
};

// By the lines around; nothing where none is indented.
std::optional<Indent> indent_of(const Situation& situation) {
  std::size_t tabs = 0, spaces = 0, width = 8, last = 0;
  for (const std::string_view text : {std::string_view(situation.prefix), std::string_view(situation.suffix)}) {
    for (const std::string_view line : lines_of(text)) {
      if (trimmed(line).empty()) continue;
      const std::string_view blanks = indentation(line);
      if (blanks.starts_with('\t')) ++tabs;
      if (blanks.starts_with("  ")) {
        ++spaces;
        if (blanks.size() > last) width = std::min(width, blanks.size() - last);
      }
      last = blanks.size();
    }
  }
  // The cursor's own line, where it is empty but indented, says what the next ones will have.
  const std::string_view own = situation.line_before();
  if (trimmed(own).empty() && own.starts_with('\t')) tabs += 2;
  if (tabs == 0 && spaces == 0) return std::nullopt;
  return Indent{tabs > spaces, std::max<std::size_t>(width, 2)};
}

// The width of one level in a text indented by spaces.
std::size_t own_width(const std::vector<std::string_view>& lines) {
  std::size_t width = 0;
  for (const std::string_view line : lines) {
    const std::size_t blanks = indentation(line).size();
    if (blanks > 0 && !trimmed(line).empty()) width = width == 0 ? blanks : std::min(width, blanks);
  }
  return width == 2 || width == 3 ? width : width == 0 || width % 4 != 0 ? 2 : 4;
}

}  // namespace

std::string_view sentence(Verdict verdict) {
  switch (verdict) {
    case Verdict::shown:
      return "A suggestion was shown.";
    case Verdict::nothing:
      return "The model had nothing to add here.";
    case Verdict::low_confidence:
      return "The model was not sure enough of its answer.";
    case Verdict::repeats_below:
      return "The answer was what stands below the cursor already.";
    case Verdict::repeats_above:
      return "The answer only repeated the lines above.";
    case Verdict::in_word:
      return "The cursor is inside a word.";
    case Verdict::superseded:
      return "The text changed before there was an answer.";
    case Verdict::unavailable:
      return "There is no model to ask at the moment.";
  }
  return "";
}

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::shown:
      return "shown";
    case Verdict::nothing:
      return "nothing";
    case Verdict::low_confidence:
      return "low-confidence";
    case Verdict::repeats_below:
      return "repeats-below";
    case Verdict::repeats_above:
      return "repeats-above";
    case Verdict::in_word:
      return "in-word";
    case Verdict::superseded:
      return "superseded";
    case Verdict::unavailable:
      return "unavailable";
  }
  return "";
}

std::string without_doubled_blanks(std::string_view text, const Situation& situation) {
  const std::string_view before = situation.line_before();
  const bool after_blank = !before.empty() && (before.back() == ' ' || before.back() == '\t');
  if (after_blank) text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return std::string(text);
}

std::string without_suffix(std::string_view text, const Situation& situation) {
  const std::string_view next = first_line_with_text(below(situation));
  if (next.size() < 3 || is_only_closers(next)) return std::string(text);
  std::vector<std::string_view> lines = lines_of(text);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (trimmed(lines[i]) != next) continue;
    lines.resize(i);
    break;
  }
  return joined(lines);
}

std::string without_repetition(std::string_view text) {
  std::vector<std::string_view> lines = lines_of(text);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const bool again = trimmed(lines[i]).size() > 8 && trimmed(lines[i]) == trimmed(lines[i - 1]);
    if (!again) continue;
    lines.resize(i);
    break;
  }
  std::string kept = joined(lines);
  // "a, a, a, a": a piece of 2 to 24 bytes, three times and more at the end.
  for (std::size_t size = 2; size <= 24 && size * 3 <= kept.size(); ++size) {
    const std::string_view piece = std::string_view(kept).substr(kept.size() - size);
    if (trimmed(piece).empty() || std::none_of(piece.begin(), piece.end(), is_word)) continue;
    std::size_t times = 1;
    while (kept.size() >= size * (times + 1) && kept.compare(kept.size() - size * (times + 1), size, piece) == 0)
      ++times;
    if (times < 3) continue;
    std::size_t cut = kept.size() - size * (times - 1);
    // Not in the middle of a character.
    while (cut < kept.size() && (static_cast<unsigned char>(kept[cut]) & 0xC0) == 0x80) ++cut;
    kept.resize(cut);
    break;
  }
  return kept;
}

std::string without_stray_closers(std::string_view text, const Situation& situation) {
  Brackets brackets(situation.language);
  brackets.read_context(situation.prefix);
  brackets.leave_outermost(stray_closers(below(situation), situation.language));
  const auto stray = brackets.read(text);
  if (!stray) return std::string(text);
  text = text.substr(0, *stray);
  // A line that held nothing but the bracket goes with it.
  const std::size_t line = text.rfind('\n');
  if (line != std::string_view::npos && trimmed(text.substr(line + 1)).empty()) text = text.substr(0, line);
  return std::string(text);
}

std::string with_closed_brackets(std::string_view text, const Situation& situation) {
  std::string closed(text);
  if (trimmed(situation.line_behind()).empty() || text.find('\n') != std::string_view::npos) return closed;
  Brackets brackets(situation.language);
  brackets.read_context(situation.prefix);
  const std::size_t before = brackets.open().size();
  brackets.read(text);
  for (std::size_t i = brackets.open().size(); i > before; --i) {
    const char opener = brackets.open()[i - 1];
    closed += opener == '(' ? ')' : opener == '[' ? ']' : '}';
  }
  return closed;
}

std::string with_indentation_of(std::string_view text, const Situation& situation) {
  const std::optional<Indent> indent = indent_of(situation);
  std::vector<std::string_view> lines = lines_of(text);
  if (!indent || lines.size() < 2) return std::string(text);
  const std::vector<std::string_view> rest(lines.begin() + 1, lines.end());
  const bool has_tabs =
      std::any_of(rest.begin(), rest.end(), [](std::string_view line) { return line.starts_with('\t'); });
  const bool has_spaces =
      std::any_of(rest.begin(), rest.end(), [](std::string_view line) { return line.starts_with("  "); });
  if (indent->tabs ? !has_spaces : !has_tabs) return std::string(text);
  const std::size_t width = own_width(rest);
  std::string out(lines[0]);
  for (const std::string_view line : rest) {
    const std::string_view blanks = indentation(line);
    std::string own;
    if (indent->tabs) {
      const std::size_t spaces = static_cast<std::size_t>(std::count(blanks.begin(), blanks.end(), ' '));
      const std::size_t tabs = blanks.size() - spaces;
      own = std::string(tabs + spaces / width, '\t') + std::string(spaces % width, ' ');
    } else {
      for (const char c : blanks) own += c == '\t' ? std::string(indent->width, ' ') : std::string(1, c);
    }
    out += '\n' + own + std::string(line.substr(blanks.size()));
  }
  return out;
}

std::string without_trailing_blanks(std::string_view text) {
  std::vector<std::string_view> lines = lines_of(text);
  for (std::string_view& line : lines) {
    const std::size_t end = line.find_last_not_of(" \t\r");
    line = end == std::string_view::npos ? std::string_view() : line.substr(0, end + 1);
  }
  while (lines.size() > 1 && lines.back().empty()) lines.pop_back();
  return joined(lines);
}

bool repeats_line_below(std::string_view text, const Situation& situation) {
  const std::string own = std::string(situation.line_before()) + std::string(text.substr(0, text.find('\n')));
  const std::string_view line = trimmed(own);
  const std::string_view first = trimmed(own).empty() ? first_line_with_text(text) : line;
  return !first.empty() && first == first_line_with_text(below(situation));
}

bool repeats_lines_above(std::string_view text, const Situation& situation) {
  const std::string whole = std::string(situation.line_before()) + std::string(text);
  std::vector<std::string_view> said;
  for (const std::string_view line : lines_of(whole)) {
    if (!trimmed(line).empty()) said.push_back(trimmed(line));
  }
  std::vector<std::string_view> above;
  const std::string_view before =
      std::string_view(situation.prefix).substr(0, situation.prefix.size() - situation.line_before().size());
  for (const std::string_view line : lines_of(before)) {
    if (!trimmed(line).empty()) above.push_back(trimmed(line));
  }
  const auto is_trivial = [](std::string_view line) { return line.size() < 4 || is_only_closers(line); };
  if (said.empty() || said.size() > above.size() || std::all_of(said.begin(), said.end(), is_trivial)) return false;
  return std::equal(said.rbegin(), said.rend(), above.rbegin());
}

Finished finish(std::string_view answer, Extent extent, const Situation& situation, bool is_whole) {
  const std::string plain = with_plain_line_ends(answer);
  std::string_view kept = plain;
  if (const auto end = find_end(kept, extent, situation)) kept = kept.substr(0, *end);
  std::string text = without_doubled_blanks(kept, situation);
  text = without_suffix(text, situation);
  if (is_whole) text = without_repetition(text);
  text = without_stray_closers(text, situation);
  if (is_whole) text = with_closed_brackets(text, situation);
  text = with_indentation_of(text, situation);
  text = without_trailing_blanks(text);
  if (trimmed(first_line_with_text(text)).empty()) return {"", Verdict::nothing};
  if (repeats_line_below(text, situation)) return {"", Verdict::repeats_below};
  if (repeats_lines_above(text, situation)) return {"", Verdict::repeats_above};
  // A comment that only opens, a lone bracket or comma: noise.
  const bool says_something = std::any_of(text.begin(), text.end(), is_word) ||
                              (text.size() >= 2 && text.find_first_of(")]}") != text.npos) ||
                              (!situation.line_before().empty() && is_only_closers(text));
  if (!says_something) return {"", Verdict::nothing};
  return {std::move(text), Verdict::shown};
}

Placed place(std::string_view text, const Situation& situation) {
  const std::string_view rest = situation.line_behind();
  const std::string_view behind = trimmed(rest);
  if (behind.empty()) return {std::string(text), 0};
  const std::size_t line = std::min(text.find('\n'), text.size());
  const std::string_view first = text.substr(0, line);
  if (!is_only_closers(behind)) {
    // In the middle of a line: up to where the line goes on.
    const std::string_view whole = rest.substr(0, rest.find_last_not_of(" \t\r") + 1);
    std::size_t again = behind.size() >= 2 ? first.find(whole) : std::string_view::npos;
    if (again == std::string_view::npos && behind.size() >= 2) again = first.find(behind);
    return {std::string(first.substr(0, again)), 0};
  }
  // Brackets first: in "(1)" before ")" the bracket is its own.
  const bool begins_with_bracket = std::string_view(")]}").find(behind.front()) != std::string_view::npos;
  std::size_t at = first.rfind(behind);
  if (begins_with_bracket) {
    const auto stray = Brackets(situation.language).read(first);
    at = stray && first.substr(*stray).starts_with(behind) ? *stray : std::string_view::npos;
  }
  if (at == std::string_view::npos) return {std::string(first), 0};
  if (at + behind.size() == first.size() && line == text.size()) return {std::string(first.substr(0, at)), 0};
  return {std::string(text), rest.size()};
}

}  // namespace glmhost::completion
