// Finds tokens that stand for themselves in a text: <|user|>, <think>, in SentencePiece also runs of line ends.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "inference/tokenizer/tokenizer.h"

namespace glmhost::tokenizer {

struct Marker {
  std::string_view text;  // not empty; not kept
  TokenId id;
  Markers taken_from;  // the least Markers value with which it is taken
};

struct MarkerMatch {
  std::size_t begin;
  std::size_t length;
  TokenId id;
};

// A trie over the bytes of all markers. Looking at one position costs at most the longest marker's length, however many
// markers there are. Immutable after construction.
class MarkerTrie {
 public:
  // Of several markers with the same text the first is kept.
  explicit MarkerTrie(std::vector<Marker> markers);

  // The first match at or after POSITION; of those that start at the same place the longest.
  std::optional<MarkerMatch> find(std::string_view text, std::size_t position, Markers mode) const;

  // The marker whose text is exactly TEXT.
  std::optional<TokenId> exact(std::string_view text) const;

 private:
  struct Node {
    std::uint32_t first_child = 0;  // children are neighbours, sorted by label
    std::uint16_t child_count = 0;
    std::uint8_t label = 0;
    Markers taken_from = Markers::none;
    TokenId id = -1;  // -1: no marker ends here
  };
  static constexpr std::uint32_t kNoNode = UINT32_MAX;

  std::uint32_t child(std::uint32_t node, unsigned char label) const;

  std::vector<Node> nodes_;  // breadth first; 0 is the root
  std::array<std::uint32_t, 256> root_children_;
};

}  // namespace glmhost::tokenizer
