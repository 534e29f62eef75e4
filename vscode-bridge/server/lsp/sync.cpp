#include "vscode-bridge/server/lsp/sync.h"

namespace glmhost::lsp {

documents::Position read_position(const Json& position) {
  const std::int64_t line = number_field(position, "line");
  const std::int64_t character = number_field(position, "character");
  if (line < 0 || character < 0) throw InvalidParams("A position must not be negative.");
  return {static_cast<std::uint64_t>(line), static_cast<std::uint64_t>(character)};
}

documents::Range read_range(const Json& range) {
  return {read_position(object_field(range, "start")), read_position(object_field(range, "end"))};
}

std::vector<documents::Change> read_changes(const Json& changes) {
  std::vector<documents::Change> read;
  for (const Json& change : changes) {
    documents::Change& one = read.emplace_back();
    one.text = text_field(change, "text");
    if (const auto range = change.find("range"); range != change.end() && !range->is_null()) {
      if (!range->is_object()) throw InvalidParams("The field \"range\" must be an object.");
      one.range = read_range(*range);
    }
  }
  return read;
}

Json write_position(const documents::Position& position) {
  return {{"line", position.line}, {"character", position.character}};
}

Json write_range(const documents::Position& start, const documents::Position& end) {
  return {{"start", write_position(start)}, {"end", write_position(end)}};
}

}  // namespace glmhost::lsp
