#include "inference/tokenizer/byte_pair_encoder.h"

#include <bit>

#include "inference/tokenizer/byte_level.h"
#include "inference/tokenizer/utf8.h"

namespace glmhost::tokenizer {

BytePairEncoder::PairTable::PairTable(const std::vector<Merge>& merges)
    : slots_(std::bit_ceil(merges.size() + merges.size() / 2 + 2)), shift_(64 - std::countr_zero(slots_.size())) {
  for (const Merge& merge : merges) {
    std::size_t i = first_slot(merge.left, merge.right);
    const auto is_other = [&](const Merge& slot) {
      return slot.left != kNoToken && (slot.left != merge.left || slot.right != merge.right);
    };
    while (is_other(slots_[i])) i = (i + 1) & (slots_.size() - 1);
    if (slots_[i].left == kNoToken) slots_[i] = merge;
  }
}

std::size_t BytePairEncoder::PairTable::first_slot(TokenId left, TokenId right) const {
  const std::uint64_t key = std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
  return static_cast<std::size_t>(key * 0x9E3779B97F4A7C15u >> shift_);  // Fibonacci hashing
}

PairMerge BytePairEncoder::PairTable::find(TokenId left, TokenId right) const {
  for (std::size_t i = first_slot(left, right); slots_[i].left != kNoToken; i = (i + 1) & (slots_.size() - 1)) {
    if (slots_[i].left == left && slots_[i].right == right) return slots_[i].result;
  }
  return {};
}

BytePairEncoder::BytePairEncoder(const Vocabulary& vocabulary, const PreTokenizer& pre_tokenizer,
                                 const std::vector<std::string>& merges)
    : vocabulary_(&vocabulary),
      pre_tokenizer_(&pre_tokenizer),
      index_(vocabulary.bytes_table(), static_cast<std::size_t>(vocabulary.size())) {
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    if (vocabulary.type(id) == TokenType::normal && !vocabulary.bytes(id).empty()) index_.insert(id);
  }
  for (std::size_t byte = 0; byte < byte_tokens_.size(); ++byte) {
    const char text = static_cast<char>(byte);
    byte_tokens_[byte] = index_.find({&text, 1}).value_or(kNoToken);
  }
  pairs_.emplace(read_merges(merges));
}

std::vector<BytePairEncoder::Merge> BytePairEncoder::read_merges(const std::vector<std::string>& lines) const {
  std::vector<Merge> merges;
  merges.reserve(lines.size());
  std::string both;
  TokenId last = kNoToken;
  // Lists are mostly in the order of what they merge to, several lines a token, so that the last result or the token
  // after it is usually the one: comparing is much cheaper than looking up in a table that is larger than the cache.
  const auto find_merged = [&](std::string_view text) -> std::optional<TokenId> {
    for (const TokenId guess : {last, last + 1}) {
      const bool is_token = vocabulary_->contains(guess) && vocabulary_->type(guess) == TokenType::normal;
      if (is_token && vocabulary_->bytes(guess) == text) return guess;
    }
    return index_.find(text);
  };
  for (std::size_t rank = 0; rank < lines.size(); ++rank) {
    const std::string_view line = lines[rank];
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos) continue;
    both.clear();
    append_byte_level(line.substr(0, space), both);
    const std::size_t left_size = both.size();
    append_byte_level(line.substr(space + 1), both);
    const std::string_view text = both;
    const auto merged = find_merged(text);
    if (!merged) continue;
    last = *merged;
    const auto left = index_.find(text.substr(0, left_size));
    const auto right = index_.find(text.substr(left_size));
    if (left && right) merges.push_back({*left, *right, {static_cast<std::uint32_t>(rank), *merged}});
  }
  return merges;
}

void BytePairEncoder::encode(std::string_view text, std::vector<TokenId>& out) const {
  std::string repaired;
  if (!is_valid_utf8(text)) {
    repaired = replace_invalid_utf8(text);
    text = repaired;
  }
  MergeBuffers buffers;
  for_each_piece(pre_tokenizer_->patterns, text, [&](std::string_view piece) {
    if (pre_tokenizer_->ignore_merges) {
      if (const auto id = index_.find(piece)) {
        out.push_back(*id);
        return;
      }
    }
    encode_piece(piece, buffers, out);
  });
}

void BytePairEncoder::encode_piece(std::string_view piece, MergeBuffers& buffers, std::vector<TokenId>& out) const {
  buffers.symbols.clear();
  for (std::size_t i = 0; i < piece.size(); ++i) {
    append_symbol(buffers.symbols, i, i + 1, byte_tokens_[static_cast<unsigned char>(piece[i])]);
  }
  merge_symbols(buffers, [this](const Symbol& left, const Symbol& right) { return pairs_->find(left.id, right.id); });
  for (std::uint32_t i = 0; i != kNoSymbol; i = buffers.symbols[i].next) {
    if (buffers.symbols[i].id != kNoToken) out.push_back(buffers.symbols[i].id);
  }
}

std::int32_t BytePairEncoder::unreachable_tokens() const {
  if (pre_tokenizer_->ignore_merges) return 0;
  std::int32_t count = 0;
  MergeBuffers buffers;
  std::vector<TokenId> ids;
  for (TokenId id = 0; id < vocabulary_->size(); ++id) {
    if (vocabulary_->type(id) != TokenType::normal || vocabulary_->bytes(id).empty()) continue;
    ids.clear();
    encode_piece(vocabulary_->bytes(id), buffers, ids);
    if (ids.size() != 1 || ids[0] != id) ++count;
  }
  return count;
}

}  // namespace glmhost::tokenizer
