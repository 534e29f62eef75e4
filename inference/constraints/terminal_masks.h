// What a whole vocabulary is from one point inside a terminal on: computed once, shared by all states of a constraint.
//
// Thread rules: find() may be called by several threads at once.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "inference/constraints/recogniser.h"
#include "inference/constraints/token_trie.h"

namespace glmhost::constraints {

struct TerminalMask {
  // Tokens that lie wholly inside the terminal, or end exactly with it.
  std::vector<MaskWord> inside;
  // Trie nodes of one byte more than a text that the terminal may end after, by label and that byte: those of byte b
  // are nodes[first[b]] to nodes[first[b + 1]].
  struct Exits {
    std::uint32_t label = 0;
    std::array<std::uint32_t, 257> first{};
    std::vector<TokenTrie::Node> nodes;
  };
  std::vector<Exits> exits;
};

class TerminalMasks {
 public:
  TerminalMasks(std::shared_ptr<const TokenTrie> trie, std::shared_ptr<const Grammar> grammar)
      : trie_(std::move(trie)), grammar_(std::move(grammar)) {}

  // For a terminal of bytes, a string, or the part of a key terminal that is no known name (lex.names must be kNone).
  std::shared_ptr<const TerminalMask> find(const LexState& lex);

 private:
  std::shared_ptr<const TerminalMask> compute(const LexState& lex) const;

  std::shared_ptr<const TokenTrie> trie_;
  std::shared_ptr<const Grammar> grammar_;
  std::mutex mutex_;
  std::map<LexState, std::shared_ptr<const TerminalMask>> known_;
};

}  // namespace glmhost::constraints
