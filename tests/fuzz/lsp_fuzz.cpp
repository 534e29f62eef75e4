// An editor that sends any bytes: frames, messages, and changes of a document. Text that is kept is always valid UTF-8,
// positions always lie in it, and how the bytes are cut makes no difference.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "vscode-bridge/server/lsp/frame_reader.h"
#include "vscode-bridge/server/lsp/message.h"
#include "vscode-bridge/server/lsp/sync.h"

namespace {

using namespace glmhost;

std::vector<std::string> frames(std::string_view bytes, std::size_t step) {
  lsp::FrameReader reader;
  std::vector<std::string> out;
  while (!bytes.empty()) {
    std::string_view piece = bytes.substr(0, step);
    bytes.remove_prefix(piece.size());
    while (!piece.empty()) {
      if (reader.wanted() == 0) std::abort();
      const auto frame = reader.feed(piece);
      if (!frame) continue;
      if (const auto* body = std::get_if<std::string>(&*frame)) {
        out.push_back(*body);
      } else {
        out.push_back("error");
      }
    }
  }
  return out;
}

void check(const documents::TextBuffer& text) {
  const std::string all = text.text();
  if (all.size() != text.size() || documents::summarize(all).line_ends + 1 != text.lines()) std::abort();
  if (!lsp::Json::accept(lsp::Json(all).dump(-1, ' ', false, lsp::Json::error_handler_t::strict))) std::abort();
}

void apply(documents::DocumentStore& store, const lsp::Json& params) {
  documents::Document* document = store.find("d");
  if (document == nullptr) document = &store.open("d", "python", 0, "");
  try {
    for (const documents::Change& change : lsp::read_changes(lsp::array_field(params, "contentChanges"))) {
      documents::DocumentStore::apply(*document, change, documents::PositionEncoding::utf16);
    }
    const documents::Position position = lsp::read_position(lsp::object_field(params, "position"));
    for (const auto encoding :
         {documents::PositionEncoding::utf8, documents::PositionEncoding::utf16, documents::PositionEncoding::utf32}) {
      const std::size_t offset = document->text.offset(position, encoding);
      if (document->text.offset(document->text.position(offset, encoding), encoding) != offset) std::abort();
    }
  } catch (const lsp::InvalidParams& error) {
    if (std::string_view(error.what()).back() != '.') std::abort();
  }
  check(document->text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  documents::DocumentStore store;
  std::vector<std::string> bodies = frames(bytes, bytes.size() + 1);
  if (frames(bytes, 1 + data[0] % 7) != bodies) std::abort();
  bodies.emplace_back(bytes);  // so that mutations reach the messages
  for (const std::string& body : bodies) {
    const lsp::Message message = lsp::parse(body);
    if (const auto* malformed = std::get_if<lsp::Malformed>(&message)) {
      lsp::error_text(malformed->id, malformed->code, malformed->sentence);
    } else if (const auto* notification = std::get_if<lsp::Notification>(&message)) {
      apply(store, notification->params);
    } else if (const auto* request = std::get_if<lsp::Request>(&message)) {
      lsp::result_text(request->id, request->params);
      apply(store, request->params);
    }
  }
  return 0;
}
