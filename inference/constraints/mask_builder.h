// The tokens that may come in a state: the tokens inside each of its terminals, known beforehand, and those that reach
// beyond a terminal's end, followed byte by byte.
#pragma once

#include <span>
#include <vector>

#include "inference/constraints/recogniser.h"
#include "inference/constraints/terminal_masks.h"
#include "inference/constraints/token_trie.h"

namespace glmhost::constraints {

class MaskBuilder {
 public:
  MaskBuilder(const TokenTrie& trie, TerminalMasks& terminal_masks, Recogniser& recogniser)
      : trie_(trie), terminal_masks_(terminal_masks), recogniser_(recogniser) {}

  // MASK: trie.mask_words() words.
  void build(StateId state, std::span<MaskWord> mask);

 private:
  // A quote after a known name, which decides about the tokens and nodes behind it.
  struct NameEnd {
    TokenTrie::Node quote;
    std::uint32_t label;
  };

  void add_string(const Configuration& configuration, std::span<MaskWord> mask);
  void add_terminal(const Configuration& configuration, std::span<MaskWord> mask);
  void add_key(const Configuration& configuration, std::span<MaskWord> mask);
  void find_names(const Configuration& configuration, std::span<MaskWord> mask);
  bool behind_name(TokenTrie::Node node) const;
  void follow_node(StateId before, TokenTrie::Node node, std::span<MaskWord> mask);
  void set_tokens(TokenTrie::Node node, std::span<MaskWord> mask) const;

  const TokenTrie& trie_;
  TerminalMasks& terminal_masks_;
  Recogniser& recogniser_;
  std::vector<NameEnd> name_ends_;  // ascending
  std::vector<StateId> path_;
  std::vector<LexState> lex_path_;
  std::vector<MaskWord> scratch_;
};

}  // namespace glmhost::constraints
