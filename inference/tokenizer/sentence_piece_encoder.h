// SentencePiece byte-pair encoding with scores and byte fallback (tokenizer.ggml.model llama) of plain text.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/tokenizer/merge.h"
#include "inference/tokenizer/text_encoder.h"
#include "inference/tokenizer/token_table.h"
#include "inference/tokenizer/vocabulary.h"

namespace glmhost::tokenizer {

// Pieces write a space as U+2581, and SentencePiece takes that character for a space too.
inline constexpr std::string_view kEscapedSpace = "\xE2\x96\x81";

// Appends TEXT with U+2581 turned into spaces.
void append_unescaped_spaces(std::string_view text, std::string& out);

// The vocabulary must outlive it.
class SentencePieceEncoder : public TextEncoder {
 public:
  // TEXTS and SCORES are tokenizer.ggml.tokens and .scores, one for each token of the vocabulary; no score is a NaN.
  // SPACE_PREFIX: text at the start of a prompt or after a marker gets a space before it (tokenizer.ggml.
  // add_space_prefix; Llama 2 and its kin).
  SentencePieceEncoder(const Vocabulary& vocabulary, const std::vector<std::string>& texts,
                       const std::vector<float>& scores, bool space_prefix);

  // What no piece covers becomes byte tokens, or the unknown token where the vocabulary has no bytes.
  void encode(std::string_view text, std::vector<TokenId>& out) const override;
  std::optional<TokenId> find(std::string_view bytes) const override;
  std::int32_t unreachable_tokens() const override;

 private:
  bool is_piece(TokenId id) const;
  PairMerge find_merge(std::string_view text) const;
  bool splits_before(std::string_view escaped, std::size_t begin, std::size_t end) const;
  void encode_escaped(std::string_view escaped, std::vector<TokenId>& out) const;
  void encode_symbols(std::string_view escaped, MergeBuffers& buffers, std::vector<TokenId>& out) const;

  const Vocabulary* vocabulary_;
  bool space_prefix_;
  TokenTable pieces_;                 // texts as in the file
  TokenIndex index_;                  // normal and user-defined ones
  std::vector<std::uint32_t> ranks_;  // by token: 0 for the best score, equal scores share one
  std::size_t longest_piece_ = 0;     // bytes
  std::array<TokenId, 256> byte_tokens_;
  std::array<bool, 256> joins_space_{};  // by byte: some piece has U+2581 inside, right after this byte
};

}  // namespace glmhost::tokenizer
