#include "vscode-bridge/server/documents/document_store.h"

#include <algorithm>
#include <utility>

namespace glmhost::documents {

Document& DocumentStore::open(std::string uri, std::string language, std::int64_t version, std::string_view text) {
  auto document = std::make_unique<Document>();
  document->uri = uri;
  document->language = std::move(language);
  document->version = version;
  document->text = TextBuffer(text);
  if (const Document* known = find(uri)) document->notebook = known->notebook;
  auto& place = documents_[std::move(uri)];
  place = std::move(document);
  return *place;
}

void DocumentStore::close(const std::string& uri) {
  documents_.erase(uri);
}

Document* DocumentStore::find(std::string_view uri) {
  const auto found = documents_.find(uri);
  return found == documents_.end() ? nullptr : found->second.get();
}

const Document* DocumentStore::find(std::string_view uri) const {
  const auto found = documents_.find(uri);
  return found == documents_.end() ? nullptr : found->second.get();
}

AppliedChange DocumentStore::apply(Document& document, const Change& change, PositionEncoding encoding) {
  if (!change.range) {
    const std::size_t size = document.text.size();
    document.text = TextBuffer(change.text);
    return {0, size, change.text};
  }
  std::size_t begin = document.text.offset(change.range->start, encoding);
  std::size_t end = document.text.offset(change.range->end, encoding);
  if (begin > end) std::swap(begin, end);
  document.text.replace(begin, end, change.text);
  return {begin, end - begin, change.text};
}

void DocumentStore::open_notebook(Notebook notebook) {
  std::string uri = notebook.uri;
  notebooks_[std::move(uri)] = std::move(notebook);
}

void DocumentStore::close_notebook(const std::string& uri) {
  notebooks_.erase(uri);
}

Notebook* DocumentStore::find_notebook(std::string_view uri) {
  const auto found = notebooks_.find(uri);
  return found == notebooks_.end() ? nullptr : &found->second;
}

std::string DocumentStore::joined_cells(const Document& cell, bool before) const {
  const auto notebook = notebooks_.find(cell.notebook);
  if (cell.notebook.empty() || notebook == notebooks_.end()) return {};
  const std::vector<Notebook::Cell>& cells = notebook->second.cells;
  const auto own = std::find_if(cells.begin(), cells.end(), [&](const auto& one) { return one.uri == cell.uri; });
  if (own == cells.end()) return {};
  const auto begin = before ? cells.begin() : own + 1;
  const auto end = before ? own : cells.end();
  std::string text;
  for (auto one = begin; one != end; ++one) {
    const Document* document = one->is_code ? find(one->uri) : nullptr;
    if (document == nullptr) continue;
    if (!before) text += '\n';
    text += document->text.text();
    if (before) text += '\n';
  }
  return text;
}

std::string DocumentStore::text_before(const Document& cell) const {
  return joined_cells(cell, true);
}

std::string DocumentStore::text_behind(const Document& cell) const {
  return joined_cells(cell, false);
}

}  // namespace glmhost::documents
