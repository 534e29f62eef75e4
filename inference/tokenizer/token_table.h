// Many short strings, one a token id, in one block of memory; and the way back from a string to its id.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/tokenizer/tokenizer.h"

namespace glmhost::tokenizer {

// At most 4 GiB less one byte in all.
class TokenTable {
 public:
  TokenTable(std::size_t tokens, std::size_t bytes) {
    offsets_.reserve(tokens + 1);
    text_.reserve(bytes);
  }

  void append(std::string_view text) {
    text_.append(text);
    offsets_.push_back(static_cast<std::uint32_t>(text_.size()));
  }

  std::size_t size() const { return offsets_.size() - 1; }

  std::string_view operator[](TokenId id) const {
    const auto i = static_cast<std::size_t>(id);
    return {text_.data() + offsets_[i], offsets_[i + 1] - offsets_[i]};
  }

 private:
  std::string text_;
  std::vector<std::uint32_t> offsets_ = {0};
};

// An open-addressing hash table over some strings of a TokenTable, which must outlive it.
class TokenIndex {
 public:
  TokenIndex(const TokenTable& table, std::size_t capacity);

  // Of several equal strings the first is kept.
  void insert(TokenId id);
  std::optional<TokenId> find(std::string_view text) const;

 private:
  struct Slot {
    std::uint32_t hash;  // some bits of it: spares most comparisons
    TokenId id;          // -1: empty
  };

  static std::uint64_t hash_of(std::string_view text) { return std::hash<std::string_view>{}(text); }

  const TokenTable* table_;
  std::vector<Slot> slots_;
  std::uint64_t mask_;
};

}  // namespace glmhost::tokenizer
