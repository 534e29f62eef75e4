#include "tests/unit/inference/tokenizer/vocabulary_files.h"

#include <array>
#include <cstdio>

#include "tests/unit/inference/model_files/gguf_writer.h"

namespace glmhost::tokenizer::testing {
namespace {

std::string utf8(unsigned c) {
  if (c < 0x80) return {static_cast<char>(c)};
  return {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))};
}

}  // namespace

std::int32_t VocabularyFile::add(std::string_view text, int type, float score) {
  tokens.emplace_back(text);
  types.push_back(type);
  if (model == "llama") scores.push_back(score);
  return static_cast<std::int32_t>(tokens.size()) - 1;
}

VocabularyFile byte_level_file(std::string_view pre) {
  VocabularyFile file;
  file.pre = pre;
  file.merges.emplace();
  unsigned other = 0x100;
  for (unsigned byte = 0; byte < 0x100; ++byte) {
    const bool printable = (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
    file.add(utf8(printable ? byte : other++));
  }
  return file;
}

VocabularyFile sentence_piece_file() {
  VocabularyFile file;
  file.model = "llama";
  file.pre = "";
  file.add("<unk>", 2);
  file.add("<s>", 3);
  file.add("</s>", 3);
  for (int byte = 0; byte < 256; ++byte) {
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "<0x%02X>", byte);
    file.add(text.data(), 6);
  }
  return file;
}

Tokenizer open(const VocabularyFile& file) {
  model_files::GgufWriter writer;
  writer.text("general.architecture", "llama");
  if (!file.model.empty()) writer.text("tokenizer.ggml.model", file.model);
  if (!file.pre.empty()) writer.text("tokenizer.ggml.pre", file.pre);
  if (!file.tokens.empty()) writer.texts("tokenizer.ggml.tokens", file.tokens);
  if (!file.types.empty()) writer.numbers("tokenizer.ggml.token_type", model_files::kI32, file.types);
  if (!file.scores.empty()) writer.numbers("tokenizer.ggml.scores", model_files::kF32, file.scores);
  if (file.merges) writer.texts("tokenizer.ggml.merges", *file.merges);
  for (const auto& [key, id] : file.ids) writer.u32("tokenizer.ggml." + key, id);
  const auto flag = [&](const char* key, const std::optional<bool>& value) {
    if (value) writer.number(key, model_files::kBool, static_cast<std::uint8_t>(*value));
  };
  flag("tokenizer.ggml.add_bos_token", file.add_bos);
  flag("tokenizer.ggml.add_space_prefix", file.add_space_prefix);
  const model_files::TemporaryFolder folder;
  return Tokenizer(model_files::GgufFile::open(folder.write("vocabulary.gguf", writer.bytes())));
}

}  // namespace glmhost::tokenizer::testing
