// Arbitrary bytes through one vocabulary of each kind: as one text in each marker mode, and cut into parts.
//
// The first two bytes choose the kind and how the rest is cut: 0xFE begins a new part, and the byte after it says with
// which markers.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "inference/tokenizer/tokenizer.h"
#include "inference/tokenizer/utf8.h"

namespace {

using glmhost::tokenizer::Markers;
using glmhost::tokenizer::TextPart;
using glmhost::tokenizer::TokenId;
using glmhost::tokenizer::Tokenizer;
using glmhost::tokenizer::Utf8Stream;

const std::vector<Tokenizer>& tokenizers() {
  static const std::vector<Tokenizer> all = [] {
    const auto data = std::filesystem::path(GLMHOST_TEST_DATA) / "tokenizers";
    std::vector<std::filesystem::path> folders;
    for (const auto& entry : std::filesystem::directory_iterator(data)) {
      if (entry.is_directory()) folders.push_back(entry.path());
    }
    std::sort(folders.begin(), folders.end());
    std::vector<Tokenizer> opened;
    for (const auto& folder : folders) {
      opened.emplace_back(glmhost::model_files::GgufFile::open(folder / "vocab.gguf"));
    }
    return opened;
  }();
  return all;
}

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

// Ids are in the vocabulary and, in byte-pair kinds, write the text again; streamed, they write valid UTF-8.
void check(const Tokenizer& tokenizer, const std::vector<TokenId>& ids, std::string_view text, Markers markers) {
  Utf8Stream stream;
  for (const TokenId id : ids) {
    require(id >= 0 && id < tokenizer.vocabulary_size(), "an id is in the vocabulary");
    require(markers == Markers::all || !tokenizer.is_control(id), "plain text gives no control token");
    require(glmhost::tokenizer::is_valid_utf8(stream.push(tokenizer.bytes(id))), "a stream is valid UTF-8");
  }
  require(glmhost::tokenizer::is_valid_utf8(stream.finish()), "a stream's end is valid UTF-8");
  if (tokenizer.kind() == "spm") return;
  require(tokenizer.decode(ids, true) == glmhost::tokenizer::replace_invalid_utf8(text), "ids write the text again");
}

Markers markers_of(std::uint8_t byte) {
  return static_cast<Markers>(byte % 3);
}

std::vector<TextPart> parts_of(std::string_view text, Markers markers) {
  std::vector<TextPart> parts = {{"", markers}};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (static_cast<std::uint8_t>(text[i]) == 0xFE && i + 1 < text.size()) {
      parts.push_back({"", markers_of(static_cast<std::uint8_t>(text[++i]))});
    } else {
      parts.back().text += text[i];
    }
  }
  return parts;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const Tokenizer& tokenizer = tokenizers()[data[0] % tokenizers().size()];
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);

  for (const Markers markers : {Markers::none, Markers::user_defined, Markers::all}) {
    check(tokenizer, tokenizer.encode(text, markers), text, markers);
  }

  std::vector<TextPart> parts = parts_of(text, markers_of(data[1]));
  std::string joined;
  for (const TextPart& part : parts) joined += part.text;
  check(tokenizer, tokenizer.encode(parts), joined, Markers::all);
  for (TextPart& part : parts) part.markers = Markers::none;
  require(tokenizer.encode(parts) == tokenizer.encode(joined, Markers::none), "plain parts are one text");
  return 0;
}
