// What LSP says about documents, as the documents' own types.
#pragma once

#include <vector>

#include "vscode-bridge/server/documents/document_store.h"
#include "vscode-bridge/server/lsp/params.h"

namespace glmhost::lsp {

// Each throws InvalidParams.
documents::Position read_position(const Json& position);
documents::Range read_range(const Json& range);
std::vector<documents::Change> read_changes(const Json& changes);

Json write_position(const documents::Position& position);
Json write_range(const documents::Position& start, const documents::Position& end);

}  // namespace glmhost::lsp
