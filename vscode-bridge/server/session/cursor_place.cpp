#include "vscode-bridge/server/session/cursor_place.h"

#include <algorithm>

namespace glmhost::session {
namespace {

using documents::Document;

// The next line's beginning, where it is near; else where it is.
std::size_t move_to_line(const Document& document, std::size_t begin, std::size_t end) {
  if (begin == 0) return 0;
  begin = document.text.character_begin(begin);
  const std::string ahead = document.text.text(begin, std::min(end, begin + 512));
  const std::size_t line = ahead.find('\n');
  return line == std::string::npos ? begin : begin + line + 1;
}

std::string last_bytes(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t begin = text.size() - most;
  while (begin < text.size() && documents::is_continuation(text[begin])) ++begin;
  return text.substr(begin);
}

}  // namespace

completion::Situation situation_at(const documents::DocumentStore& store, const Document& document, std::size_t offset,
                                   const std::string& shown_path) {
  completion::Situation at;
  at.uri = document.uri;
  at.language = document.language;
  at.path = shown_path;
  at.cursor = offset;
  at.begin = move_to_line(document, completion::window_begin(offset), offset);
  at.prefix = document.text.text(at.begin, offset);
  const std::size_t end = document.text.character_begin(offset + completion::kSuffixBytes);
  at.suffix = document.text.text(offset, end);
  if (!document.notebook.empty()) {
    if (at.begin == 0) {
      const std::size_t room = completion::kMostPrefix - std::min(at.prefix.size(), completion::kMostPrefix);
      at.prefix = last_bytes(store.text_before(document), room) + at.prefix;
    }
    if (at.suffix.size() < completion::kSuffixBytes) {
      std::string behind = store.text_behind(document);
      std::size_t most = std::min(behind.size(), completion::kSuffixBytes - at.suffix.size());
      while (most > 0 && most < behind.size() && documents::is_continuation(behind[most])) --most;
      at.suffix += behind.substr(0, most);
    }
  }
  at.prefix = completion::with_plain_line_ends(at.prefix);
  at.suffix = completion::with_plain_line_ends(at.suffix);
  return at;
}

std::string line_end_of(const Document& document) {
  if (document.text.lines() < 2) return "\n";
  return document.text.text(document.text.line_end(0), document.text.line_begin(1));
}

std::string with_line_ends(const std::string& text, const std::string& line_end) {
  if (line_end == "\n") return text;
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += line_end;
    } else {
      out += c;
    }
  }
  return out;
}

completion::Piece piece_at(const Document& document, std::size_t line, const std::string& shown_path) {
  const std::size_t block = line / completion::kBlockLines;
  const std::size_t first = block * completion::kBlockLines;
  if (first >= document.text.lines()) return {document.uri, shown_path, block, {}};
  const std::size_t last = std::min(first + completion::kBlockLines, document.text.lines());
  const std::size_t begin = document.text.line_begin(first);
  const std::size_t end = last == document.text.lines() ? document.text.size() : document.text.line_begin(last);
  const std::size_t most = document.text.character_begin(std::min(end, begin + 4096));
  return {document.uri, shown_path, block, completion::with_plain_line_ends(document.text.text(begin, most))};
}

bool is_binary(const completion::Situation& situation) {
  return situation.prefix.find('\0') != std::string::npos || situation.suffix.find('\0') != std::string::npos;
}

}  // namespace glmhost::session
