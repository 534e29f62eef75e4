// The merge loop that byte-pair and SentencePiece encoding share: of all neighbouring pairs that may merge, the one of
// the lowest rank is merged, the leftmost first among equals, until none is left. n log n in the number of symbols.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "inference/tokenizer/tokenizer.h"

namespace glmhost::tokenizer {

inline constexpr std::uint32_t kNoRank = std::numeric_limits<std::uint32_t>::max();
inline constexpr TokenId kNoToken = -1;

struct PairMerge {
  std::uint32_t rank = kNoRank;  // kNoRank: the two do not merge
  TokenId merged = kNoToken;
};

// A stretch of the text that is one token so far, or one character or byte that has none.
struct Symbol {
  std::uint32_t begin;
  std::uint32_t end;
  TokenId id;
  std::uint32_t previous;  // indices into the symbols; kNoSymbol at the ends
  std::uint32_t next;
  PairMerge with_next;
};

inline constexpr std::uint32_t kNoSymbol = std::numeric_limits<std::uint32_t>::max();

// Buffers that one encode call uses again for each of its pieces.
struct MergeBuffers {
  std::vector<Symbol> symbols;
  std::vector<std::uint64_t> queue;  // a heap of rank << 32 | index of the left symbol
};

// Appends a symbol to those of one piece, linked to the one before it.
inline void append_symbol(std::vector<Symbol>& symbols, std::size_t begin, std::size_t end, TokenId id) {
  const auto index = static_cast<std::uint32_t>(symbols.size());
  if (index > 0) symbols.back().next = index;
  symbols.push_back({static_cast<std::uint32_t>(begin),
                     static_cast<std::uint32_t>(end),
                     id,
                     index > 0 ? index - 1 : kNoSymbol,
                     kNoSymbol,
                     {}});
}

// FIND(const Symbol& left, const Symbol& right) gives their PairMerge. Afterwards the chain from symbols[0] along
// `next` is the result.
template <class Find>
void merge_symbols(MergeBuffers& buffers, const Find& find) {
  std::vector<Symbol>& symbols = buffers.symbols;
  std::vector<std::uint64_t>& queue = buffers.queue;
  queue.clear();

  const auto look_up = [&](std::uint32_t left) {
    Symbol& symbol = symbols[left];
    symbol.with_next = symbol.next == kNoSymbol ? PairMerge{} : find(symbol, symbols[symbol.next]);
    if (symbol.with_next.rank != kNoRank) {
      queue.push_back(std::uint64_t{symbol.with_next.rank} << 32 | left);
      return true;
    }
    return false;
  };
  for (std::uint32_t i = 0; i + 1 < symbols.size(); ++i) look_up(i);
  std::make_heap(queue.begin(), queue.end(), std::greater<>{});

  while (!queue.empty()) {
    std::pop_heap(queue.begin(), queue.end(), std::greater<>{});
    const std::uint64_t best = queue.back();
    queue.pop_back();
    const auto left = static_cast<std::uint32_t>(best);
    Symbol& symbol = symbols[left];
    // The pair may have changed since it was queued. Where its rank is the same by chance, merging now is right too:
    // the new pair is queued under the very same number.
    if (symbol.with_next.rank != static_cast<std::uint32_t>(best >> 32)) continue;

    Symbol& right = symbols[symbol.next];
    symbol.id = symbol.with_next.merged;
    symbol.end = right.end;
    symbol.next = right.next;
    right.with_next = {};
    if (symbol.next != kNoSymbol) symbols[symbol.next].previous = left;
    if (look_up(left)) std::push_heap(queue.begin(), queue.end(), std::greater<>{});
    if (symbol.previous != kNoSymbol && look_up(symbol.previous)) {
      std::push_heap(queue.begin(), queue.end(), std::greater<>{});
    }
  }
}

}  // namespace glmhost::tokenizer
