#include "inference/tokenizer/token_table.h"

#include <bit>

namespace glmhost::tokenizer {

TokenIndex::TokenIndex(const TokenTable& table, std::size_t capacity)
    : table_(&table), slots_(std::bit_ceil(capacity * 2 + 1), Slot{0, -1}), mask_(slots_.size() - 1) {}

void TokenIndex::insert(TokenId id) {
  const std::string_view text = (*table_)[id];
  const std::uint64_t hash = hash_of(text);
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  std::uint64_t i = hash & mask_;
  for (; slots_[i].id >= 0; i = (i + 1) & mask_) {
    if (slots_[i].hash == tag && (*table_)[slots_[i].id] == text) return;
  }
  slots_[i] = {tag, id};
}

std::optional<TokenId> TokenIndex::find(std::string_view text) const {
  const std::uint64_t hash = hash_of(text);
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  for (std::uint64_t i = hash & mask_; slots_[i].id >= 0; i = (i + 1) & mask_) {
    if (slots_[i].hash == tag && (*table_)[slots_[i].id] == text) return slots_[i].id;
  }
  return std::nullopt;
}

}  // namespace glmhost::tokenizer
