// The documents and notebooks of the editor, as its notifications tell.
#include <algorithm>
#include <utility>

#include "vscode-bridge/server/lsp/sync.h"
#include "vscode-bridge/server/session/server.h"
#include "vscode-bridge/server/workspace/uri.h"

namespace glmhost::session {

using lsp::InvalidParams;
using lsp::Json;

void Server::open(const Json& params) {
  const Json& item = lsp::object_field(params, "textDocument");
  const std::string uri = lsp::text_field(item, "uri");
  completer_.closed(uri);
  const documents::Document& document = store_.open(uri, lsp::text_or(item, "languageId", ""),
                                                    lsp::number_or(item, "version", 0), lsp::text_field(item, "text"));
  focus_.erase(uri);
  if (!settings_.other_files || why_not(document)) return;
  if (const auto path = workspace::path_of(uri)) neighbours_.read(*path, document.text.text(0, 8192));
}

void Server::change(const Json& params) {
  const Json& named = lsp::object_field(params, "textDocument");
  documents::Document* const document = store_.find(lsp::text_field(named, "uri"));
  if (document == nullptr) throw InvalidParams("A document that is not open was changed.");
  document->version = lsp::number_or(named, "version", document->version + 1);
  change_text(*document, lsp::array_field(params, "contentChanges"));
}

void Server::change_text(documents::Document& document, const Json& changes) {
  const std::vector<documents::Change> read = lsp::read_changes(changes);
  const Clock::time_point now = Clock::now();
  for (const documents::Change& change : read) {
    const documents::AppliedChange applied = documents::DocumentStore::apply(document, change, encoding_);
    completer_.changed(document.uri, applied.begin, applied.removed, applied.inserted, now);
  }
}

void Server::close(const Json& params) {
  const std::string uri = lsp::text_field(lsp::object_field(params, "textDocument"), "uri");
  completer_.closed(uri);
  ring_.forget(uri);
  store_.close(uri);
  focus_.erase(uri);
  paused_.erase(uri);
}

void Server::open_notebook(const Json& params) {
  const Json& notebook = lsp::object_field(params, "notebookDocument");
  documents::Notebook opened{lsp::text_field(notebook, "uri"), {}};
  for (const Json& cell : lsp::array_field(notebook, "cells")) {
    opened.cells.push_back({lsp::text_field(cell, "document"), lsp::number_or(cell, "kind", 2) == 2});
  }
  const std::string uri = opened.uri;
  store_.open_notebook(std::move(opened));
  for (const Json& cell : lsp::array_field(params, "cellTextDocuments")) {
    open({{"textDocument", cell}});
    store_.find(lsp::text_field(cell, "uri"))->notebook = uri;
  }
}

void Server::change_notebook(const Json& params) {
  const std::string uri = lsp::text_field(lsp::object_field(params, "notebookDocument"), "uri");
  documents::Notebook* const notebook = store_.find_notebook(uri);
  if (notebook == nullptr) throw InvalidParams("A notebook that is not open was changed.");
  const Json* const cells = lsp::find_object(lsp::object_field(params, "change"), "cells");
  if (cells == nullptr) return;
  if (const Json* const structure = lsp::find_object(*cells, "structure")) {
    const Json& array = lsp::object_field(*structure, "array");
    const auto size = static_cast<std::int64_t>(notebook->cells.size());
    const std::int64_t start = std::clamp<std::int64_t>(lsp::number_field(array, "start"), 0, size);
    const std::int64_t count = std::clamp<std::int64_t>(lsp::number_field(array, "deleteCount"), 0, size - start);
    std::vector<documents::Notebook::Cell> inserted;
    if (array.contains("cells")) {
      for (const Json& cell : lsp::array_field(array, "cells")) {
        inserted.push_back({lsp::text_field(cell, "document"), lsp::number_or(cell, "kind", 2) == 2});
      }
    }
    const auto at = notebook->cells.erase(notebook->cells.begin() + start, notebook->cells.begin() + start + count);
    notebook->cells.insert(at, inserted.begin(), inserted.end());
    if (structure->contains("didOpen")) {
      for (const Json& cell : lsp::array_field(*structure, "didOpen")) {
        open({{"textDocument", cell}});
        store_.find(lsp::text_field(cell, "uri"))->notebook = uri;
      }
    }
    if (structure->contains("didClose")) {
      for (const Json& cell : lsp::array_field(*structure, "didClose")) close({{"textDocument", cell}});
    }
  }
  if (cells->contains("textContent")) {
    for (const Json& one : lsp::array_field(*cells, "textContent")) {
      documents::Document* const cell = store_.find(lsp::text_field(lsp::object_field(one, "document"), "uri"));
      if (cell != nullptr) change_text(*cell, lsp::array_field(one, "changes"));
    }
  }
}

}  // namespace glmhost::session
