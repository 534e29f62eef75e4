// Byte-level byte-pair encoding (tokenizer.ggml.model gpt2) of plain text.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/tokenizer/merge.h"
#include "inference/tokenizer/pre_tokenizer.h"
#include "inference/tokenizer/text_encoder.h"
#include "inference/tokenizer/token_table.h"
#include "inference/tokenizer/vocabulary.h"

namespace glmhost::tokenizer {

// The vocabulary must outlive it.
class BytePairEncoder : public TextEncoder {
 public:
  // MERGES are the lines of tokenizer.ggml.merges, "left right" in byte-level spelling, best first. A line that is not
  // two tokens whose concatenation is a token has no effect: some converters write lines of three and more parts.
  BytePairEncoder(const Vocabulary& vocabulary, const PreTokenizer& pre_tokenizer,
                  const std::vector<std::string>& merges);

  // Bytes that are not UTF-8 count as U+FFFD each. A byte that has no token (real vocabularies lack a few control
  // characters) gives nothing, as in other engines.
  void encode(std::string_view text, std::vector<TokenId>& out) const override;
  std::optional<TokenId> find(std::string_view bytes) const override { return index_.find(bytes); }
  std::int32_t unreachable_tokens() const override;

 private:
  struct Merge {
    TokenId left = kNoToken;
    TokenId right = kNoToken;
    PairMerge result;
  };

  // A hash table from a pair of tokens to its merge.
  class PairTable {
   public:
    explicit PairTable(const std::vector<Merge>& merges);  // of equal pairs the first is kept
    PairMerge find(TokenId left, TokenId right) const;

   private:
    std::size_t first_slot(TokenId left, TokenId right) const;

    std::vector<Merge> slots_;
    int shift_;
  };

  std::vector<Merge> read_merges(const std::vector<std::string>& lines) const;
  void encode_piece(std::string_view piece, MergeBuffers& buffers, std::vector<TokenId>& out) const;

  const Vocabulary* vocabulary_;
  const PreTokenizer* pre_tokenizer_;
  TokenIndex index_;  // normal tokens
  std::optional<PairTable> pairs_;
  std::array<TokenId, 256> byte_tokens_;  // kNoToken where there is none
};

}  // namespace glmhost::tokenizer
