// The documents that the editor has open, as its notifications tell: text documents, and notebooks, whose cells are
// documents in an order. Closing frees. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vscode-bridge/server/documents/text_buffer.h"

namespace glmhost::documents {

struct Document {
  std::string uri;
  std::string language;  // the editor's name for it
  std::int64_t version = 0;
  TextBuffer text;
  std::string notebook;  // the notebook's URI, of a cell
};

struct Range {
  Position start;
  Position end;
};

// One of a notification's changes, in the order given. Without a range it is the whole text.
struct Change {
  std::optional<Range> range;
  std::string text;
};

// What a change did, in bytes of the text before it.
struct AppliedChange {
  std::size_t begin = 0;
  std::size_t removed = 0;
  std::string_view inserted;  // into the Change
};

struct Notebook {
  std::string uri;
  struct Cell {
    std::string uri;
    bool is_code = true;
  };
  std::vector<Cell> cells;
};

class DocumentStore {
 public:
  // A document that is open already is opened anew: the editor's word counts.
  Document& open(std::string uri, std::string language, std::int64_t version, std::string_view text);
  void close(const std::string& uri);
  Document* find(std::string_view uri);
  const Document* find(std::string_view uri) const;

  // Ranges are taken as TextBuffer takes positions: clamped, in either order.
  static AppliedChange apply(Document& document, const Change& change, PositionEncoding encoding);
  static AppliedChange apply(Document& document, Change&& change, PositionEncoding encoding) = delete;

  void open_notebook(Notebook notebook);
  void close_notebook(const std::string& uri);  // its cells are closed by their own names
  Notebook* find_notebook(std::string_view uri);

  // Text of the code cells before and behind a cell, joined by line ends; empty for what is no cell.
  std::string text_before(const Document& cell) const;
  std::string text_behind(const Document& cell) const;

  using Documents = std::map<std::string, std::unique_ptr<Document>, std::less<>>;
  const Documents& all() const { return documents_; }

 private:
  std::string joined_cells(const Document& cell, bool before) const;

  Documents documents_;
  std::map<std::string, Notebook, std::less<>> notebooks_;
};

}  // namespace glmhost::documents
