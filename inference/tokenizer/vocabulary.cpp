#include "inference/tokenizer/vocabulary.h"

#include <algorithm>
#include <array>
#include <limits>

#include "inference/error.h"
#include "inference/model_files/error_text.h"
#include "inference/tokenizer/byte_level.h"
#include "inference/tokenizer/sentence_piece_encoder.h"
#include "inference/tokenizer/utf8.h"

namespace glmhost::tokenizer {
namespace {

using model_files::GgufFile;
using model_files::quoted_path;
using model_files::quoted_text;

[[noreturn]] void throw_bad_file(const GgufFile& file, const std::string& what) {
  throw Error(ErrorKind::bad_file, quoted_path(file.path()) + " " + what +
                                       " The file is damaged or was converted by a faulty program: get it again, or "
                                       "convert the model again.");
}

Family read_family(const GgufFile& file) {
  const auto model = file.get_string("tokenizer.ggml.model");
  if (!model || *model == "none" || *model == "no_vocab") {
    throw_bad_file(file, "has no tokenizer (tokenizer.ggml.model), so text cannot be turned into tokens.");
  }
  if (*model == "gpt2") return Family::byte_pair;
  if (*model == "llama") return Family::sentence_piece;
  throw Error(ErrorKind::unsupported,
              quoted_path(file.path()) + " has a tokenizer of the kind " + quoted_text(*model) +
                  ". This version knows \"gpt2\" (byte-level BPE) and \"llama\" "
                  "(SentencePiece BPE): take another model or a newer version of this program.");
}

std::vector<TokenType> read_types(const GgufFile& file, std::size_t tokens) {
  const auto numbers = file.get_integers("tokenizer.ggml.token_type");
  if (!numbers) return std::vector<TokenType>(tokens, TokenType::normal);
  if (numbers->size() != tokens) {
    throw_bad_file(file, "lists " + model_files::grouped(tokens) + " tokens but " +
                             model_files::grouped(numbers->size()) +
                             " token types (tokenizer.ggml.token_type must have one for each).");
  }
  std::vector<TokenType> types;
  types.reserve(tokens);
  for (const std::int64_t number : *numbers) {
    // 0 is "undefined": some converters write it for plain tokens.
    types.push_back(number >= 2 && number <= 6 ? static_cast<TokenType>(number) : TokenType::normal);
  }
  return types;
}

// "<0x0A>" as the byte it names.
std::optional<char> byte_token(std::string_view text) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
  };
  if (text.size() != 6 || text.substr(0, 3) != "<0x" || text[5] != '>') return std::nullopt;
  const int high = digit(text[3]);
  const int low = digit(text[4]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<char>(high * 16 + low);
}

TokenTable read_bytes(Family family, const std::vector<std::string>& texts, const std::vector<TokenType>& types) {
  std::size_t total = 0;
  for (const std::string& text : texts) total += text.size();
  TokenTable table(texts.size(), total);
  std::string bytes;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    bytes.clear();
    switch (types[i]) {
      case TokenType::normal:
      case TokenType::unused:
        if (family == Family::byte_pair) {
          append_byte_level(texts[i], bytes);
        } else {
          append_unescaped_spaces(texts[i], bytes);
        }
        break;
      case TokenType::user_defined:
        if (family == Family::byte_pair) {
          bytes = texts[i];
        } else {
          append_unescaped_spaces(texts[i], bytes);
        }
        break;
      case TokenType::byte:
        if (const auto byte = byte_token(texts[i])) {
          bytes = *byte;
        } else {
          bytes = texts[i];
        }
        break;
      case TokenType::unknown:
      case TokenType::control:
        bytes = texts[i];
    }
    table.append(bytes);
  }
  return table;
}

const std::vector<std::string>& read_texts(const GgufFile& file) {
  const std::vector<std::string>* texts = file.get_strings("tokenizer.ggml.tokens");
  if (!texts || texts->empty()) throw_bad_file(file, "has no list of tokens (tokenizer.ggml.tokens).");
  std::size_t bytes = 0;
  for (const std::string& text : *texts) bytes += text.size();
  if (texts->size() > static_cast<std::size_t>(std::numeric_limits<TokenId>::max()) ||
      bytes > std::numeric_limits<std::uint32_t>::max()) {
    throw_bad_file(file, "lists more tokens, or longer ones, than can be counted.");
  }
  return *texts;
}

// A token id that the file names by KEY.
std::optional<TokenId> read_id(const GgufFile& file, std::string_view key, std::size_t tokens) {
  const auto number = file.get_unsigned(key);
  if (!number) return std::nullopt;
  if (*number >= tokens) {
    throw_bad_file(file, "gives " + std::string(key) + " as " + std::to_string(*number) + ", but its tokens end at " +
                             std::to_string(tokens - 1) + ".");
  }
  return static_cast<TokenId>(*number);
}

// Texts by which chat models end a turn or a text; files often name only one of theirs.
constexpr std::array<std::string_view, 6> kEndTexts = {"<|endoftext|>", "<|im_end|>", "<end_of_turn>",
                                                       "<|eot_id|>",    "<|eom_id|>", "<|end_of_text|>"};
// A GLM model that is not stopped at these plays the user, or invents a tool's answer.
constexpr std::array<std::string_view, 2> kGlmEndTexts = {"<|user|>", "<|observation|>"};

bool is_one_of(std::span<const std::string_view> texts, std::string_view text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

}  // namespace

Vocabulary::Vocabulary(const GgufFile& file)
    : family_(read_family(file)),
      pre_tokenizer_(file.get_string("tokenizer.ggml.pre").value_or("")),
      bytes_(0, 0),
      types_(read_types(file, read_texts(file).size())) {
  const std::vector<std::string>& texts = read_texts(file);
  read_special_tokens(file, texts);
  bytes_ = read_bytes(family_, texts, types_);
}

void Vocabulary::read_special_tokens(const GgufFile& file, const std::vector<std::string>& texts) {
  const bool sentence_piece = family_ == Family::sentence_piece;
  // SentencePiece models number these so unless they say otherwise, and old files leave them out.
  const auto or_default = [&](std::optional<TokenId> id, TokenId usual) {
    const bool applies = !id && sentence_piece && static_cast<std::size_t>(usual) < texts.size();
    return applies ? std::optional(usual) : id;
  };
  unknown_ = or_default(read_id(file, "tokenizer.ggml.unknown_token_id", texts.size()), 0);
  bos_ = or_default(read_id(file, "tokenizer.ggml.bos_token_id", texts.size()), 1);
  eos_ = or_default(read_id(file, "tokenizer.ggml.eos_token_id", texts.size()), 2);

  for (const auto& id : {eos_, read_id(file, "tokenizer.ggml.eot_token_id", texts.size()),
                         read_id(file, "tokenizer.ggml.eom_token_id", texts.size())}) {
    if (id) end_of_generation_.push_back(*id);
  }
  const bool is_glm = pre_tokenizer_ == "glm4" || pre_tokenizer_ == "chatglm-bpe";
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const bool ends = is_one_of(kEndTexts, texts[i]) || (is_glm && is_one_of(kGlmEndTexts, texts[i]));
    if (ends) end_of_generation_.push_back(static_cast<TokenId>(i));
  }
  std::sort(end_of_generation_.begin(), end_of_generation_.end());
  end_of_generation_.erase(std::unique(end_of_generation_.begin(), end_of_generation_.end()), end_of_generation_.end());
  for (const TokenId id : end_of_generation_) types_[static_cast<std::size_t>(id)] = TokenType::control;
}

Markers Vocabulary::marker_level(TokenId id) const {
  if (is_control(id)) return Markers::all;
  // In SentencePiece user-defined tokens are a part of how text is encoded (runs of spaces and line ends, HTML tags),
  // and they are taken always, by its own library too. In byte-level files a single character or plain white space is
  // such a token: it marks nothing.
  if (family_ == Family::sentence_piece) return Markers::none;
  const std::string_view text = bytes(id);
  const bool is_character = !text.empty() && utf8_sequence_length(text) == static_cast<int>(text.size());
  const bool is_blank = text.find_first_not_of(" \t\r\n") == std::string_view::npos;
  return is_character || is_blank ? Markers::none : Markers::user_defined;
}

}  // namespace glmhost::tokenizer
