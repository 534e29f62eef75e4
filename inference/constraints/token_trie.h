// A vocabulary as a tree of bytes: what token masks are computed with. Made once for a model, used by all constraints.
//
// Control tokens have no place in it (a constrained text holds none), nor have tokens that write nothing.
// Thread rules: immutable after construction.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "inference/tokenizer/tokenizer.h"

namespace glmhost::constraints {

// One bit a token id: bit (id % 64) of word id / 64.
using MaskWord = std::uint64_t;

inline void set_bit(std::span<MaskWord> mask, std::int32_t id) {
  mask[static_cast<std::size_t>(id) / 64] |= MaskWord{1} << (id % 64);
}
inline bool bit_is_set(std::span<const MaskWord> mask, std::int32_t id) {
  return (mask[static_cast<std::size_t>(id) / 64] >> (id % 64) & 1) != 0;
}

class TokenTrie {
 public:
  // A node is the byte string on the way to it; nodes are numbered depth first, so that the nodes below one follow it.
  using Node = std::uint32_t;
  static constexpr Node kRoot = 0;

  explicit TokenTrie(const tokenizer::Tokenizer& tokenizer);
  // bytes_of(id): what token id writes; empty for one that is no text. end_tokens: what ends an answer.
  TokenTrie(std::int32_t vocabulary_size, const std::function<std::string_view(std::int32_t)>& bytes_of,
            std::vector<std::int32_t> end_tokens);

  std::int32_t vocabulary_size() const { return static_cast<std::int32_t>(bytes_.size()); }
  std::size_t mask_words() const { return (bytes_.size() + 63) / 64; }
  std::string_view bytes(std::int32_t id) const { return bytes_[static_cast<std::size_t>(id)]; }
  std::span<const std::int32_t> end_tokens() const { return end_tokens_; }
  bool is_end_token(std::int32_t id) const;

  std::size_t size() const { return nodes_.size(); }
  std::uint8_t byte(Node node) const { return nodes_[node].byte; }
  int depth(Node node) const { return nodes_[node].depth; }
  Node after(Node node) const { return nodes_[node].after; }  // the first node that is not below it
  // Tokens that write exactly the node's bytes.
  std::span<const std::int32_t> tokens(Node node) const {
    return {node_tokens_.data() + nodes_[node].tokens, nodes_[node + 1].tokens - nodes_[node].tokens};
  }
  bool has_children(Node node) const { return nodes_[node].after != node + 1; }
  int deepest() const { return deepest_; }

  // What the vocabulary is inside a JSON string, of which most tokens are a part. Counts are of characters begun.
  static constexpr std::uint32_t kCounts = 24;
  // Tokens that lie wholly inside: within_text(n) for those of at most n < kCounts characters, any_text_tokens() for
  // all, longer() for those of kCounts and more, ascending.
  struct LongToken {
    std::uint32_t characters;
    std::int32_t token;
  };
  std::span<const MaskWord> within_text(std::uint32_t characters) const { return within_[characters]; }
  std::span<const MaskWord> any_text_tokens() const { return any_text_tokens_; }
  std::span<const LongToken> longer() const { return longer_; }
  std::uint32_t most_characters() const { return most_characters_; }
  // Tokens that close the string, by the number of characters before the quote.
  struct Closing {
    std::vector<std::int32_t> tokens;  // end with the quote
    std::vector<Node> quotes;          // the nodes of those strings
    std::vector<Node> behind;          // nodes of one byte more, sorted by that byte
  };
  std::span<const Closing> closings() const { return closings_; }

 private:
  struct Entry {
    Node after = 0;
    std::uint32_t tokens = 0;  // index of the first of its tokens
    std::int32_t depth = 0;
    std::uint8_t byte = 0;
  };

  void build(std::vector<std::int32_t> order);
  void classify_text();

  std::vector<std::string_view> bytes_;  // by id
  std::vector<char> text_;
  std::vector<Entry> nodes_;  // and one behind the last
  std::vector<std::int32_t> node_tokens_;
  std::vector<std::int32_t> end_tokens_;
  std::vector<std::vector<MaskWord>> within_;
  std::vector<MaskWord> any_text_tokens_;
  std::vector<LongToken> longer_;
  std::vector<Closing> closings_;
  std::uint32_t most_characters_ = 0;
  int deepest_ = 0;
};

}  // namespace glmhost::constraints
