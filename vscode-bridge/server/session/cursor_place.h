// From a place in an open document to what the completer asks about, and back to what the editor is told.
#pragma once

#include <string>

#include "vscode-bridge/server/completion/context_ring.h"
#include "vscode-bridge/server/completion/finish.h"
#include "vscode-bridge/server/documents/document_store.h"

namespace glmhost::session {

// `offset` lies between characters. A notebook's other cells are part of the text.
completion::Situation situation_at(const documents::DocumentStore& store, const documents::Document& document,
                                   std::size_t offset, const std::string& shown_path);

std::string line_end_of(const documents::Document& document);  // of its first line; \n where it has one only

// `text` with \n as the document writes it.
std::string with_line_ends(const std::string& text, const std::string& line_end);

// The kBlockLines lines around a line, for the ring of pieces.
completion::Piece piece_at(const documents::Document& document, std::size_t line, const std::string& shown_path);

// A text that is none: it has NUL bytes near the cursor.
bool is_binary(const completion::Situation& situation);

}  // namespace glmhost::session
