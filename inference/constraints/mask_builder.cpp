#include "inference/constraints/mask_builder.h"

#include <algorithm>

namespace glmhost::constraints {
namespace {

void unite(std::span<MaskWord> mask, std::span<const MaskWord> more) {
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] |= more[i];
}

bool between_characters(const Terminal& terminal, const LexState& lex) {
  return terminal.free_text && lex.spelling == spelling::kText && lex.content == terminal.dfa->start();
}

}  // namespace

void MaskBuilder::build(StateId state, std::span<MaskWord> mask) {
  std::ranges::fill(mask, MaskWord{0});
  const auto here = recogniser_.configurations(state);
  const std::vector<Configuration> configurations(here.begin(), here.end());  // following makes further states
  for (const Configuration& configuration : configurations) {
    const Terminal& terminal = recogniser_.grammar().terminals[configuration.lex.terminal];
    if (terminal.kind == Terminal::Kind::key) {
      add_key(configuration, mask);
    } else if (terminal.kind == Terminal::Kind::string && between_characters(terminal, configuration.lex)) {
      add_string(configuration, mask);
    } else {
      add_terminal(configuration, mask);
    }
  }
  if (recogniser_.can_end(state)) {
    for (const std::int32_t token : trie_.end_tokens()) {
      if (token < trie_.vocabulary_size()) set_bit(mask, token);
    }
  }
}

// Between two characters of a free text (or a name that is not known), for which the trie has everything ready.
void MaskBuilder::add_string(const Configuration& configuration, std::span<MaskWord> mask) {
  const Terminal& terminal = recogniser_.grammar().terminals[configuration.lex.terminal];
  const std::uint32_t read = configuration.lex.characters;
  const std::uint32_t most = terminal.most == kNone ? kNone : terminal.most - read;
  const std::uint32_t least = terminal.least > read ? terminal.least - read : 0;
  if (most >= trie_.most_characters()) {
    unite(mask, trie_.any_text_tokens());
  } else {
    unite(mask, trie_.within_text(std::min(most, TokenTrie::kCounts - 1)));
    for (const TokenTrie::LongToken& token : trie_.longer()) {
      if (token.characters > most) break;
      set_bit(mask, token.token);
    }
  }
  const auto closings = trie_.closings();
  StateId follow = kNoState;
  for (std::size_t count = least; count < closings.size() && count <= most; ++count) {
    for (const std::int32_t token : closings[count].tokens) set_bit(mask, token);
    if (closings[count].behind.empty()) continue;
    if (follow == kNoState) {
      Configuration closed = configuration;
      closed.lex.spelling = spelling::kClosed;
      closed.lex.names = KeyTrie::kNone;
      follow = recogniser_.follow(closed, recogniser_.label(closed.lex));
    }
    for (const TokenTrie::Node node : closings[count].behind) {
      if (!behind_name(node)) follow_node(follow, node, mask);
    }
  }
}

void MaskBuilder::add_terminal(const Configuration& configuration, std::span<MaskWord> mask) {
  LexState lex = configuration.lex;
  lex.names = KeyTrie::kNone;
  const auto known = terminal_masks_.find(lex);
  unite(mask, known->inside);
  const Terminal& terminal = recogniser_.grammar().terminals[lex.terminal];
  const std::uint32_t first_label =
      terminal.kind == Terminal::Kind::key
          ? static_cast<std::uint32_t>(recogniser_.grammar().objects[terminal.object].properties.size())
          : 0;
  for (const TerminalMask::Exits& exits : known->exits) {
    const StateId follow = recogniser_.follow(configuration, first_label + exits.label);
    for (std::size_t byte = 0; byte < 256; ++byte) {
      if (exits.first[byte] == exits.first[byte + 1]) continue;
      if (recogniser_.step(follow, static_cast<std::uint8_t>(byte)) == kNoState) continue;
      for (std::uint32_t i = exits.first[byte]; i < exits.first[byte + 1]; ++i) {
        if (!behind_name(exits.nodes[i])) follow_node(follow, exits.nodes[i], mask);
      }
    }
  }
}

void MaskBuilder::add_key(const Configuration& configuration, std::span<MaskWord> mask) {
  scratch_.assign(mask.size(), 0);
  name_ends_.clear();
  find_names(configuration, scratch_);
  const Terminal& terminal = recogniser_.grammar().terminals[configuration.lex.terminal];
  if (configuration.lex.content != kDead) {
    if (between_characters(terminal, configuration.lex)) {
      add_string(configuration, scratch_);
    } else {
      add_terminal(configuration, scratch_);
    }
  }
  // A known name is never another one, so these tokens are decided here.
  const Memory& memory = recogniser_.memory(configuration.memory);
  const std::vector<NameEnd> ends = std::move(name_ends_);
  name_ends_.clear();
  for (const NameEnd& end : ends) {
    const bool available = memory.is_available(end.label);
    for (const std::int32_t token : trie_.tokens(end.quote)) {
      if (available) {
        set_bit(scratch_, token);
      } else {
        scratch_[static_cast<std::size_t>(token) / 64] &= ~(MaskWord{1} << (token % 64));
      }
    }
    if (!available || !trie_.has_children(end.quote)) continue;
    const StateId follow = recogniser_.follow(configuration, end.label);
    for (TokenTrie::Node child = end.quote + 1; child < trie_.after(end.quote); child = trie_.after(child)) {
      follow_node(follow, child, scratch_);
    }
  }
  unite(mask, scratch_);
}

// Walks known names and the vocabulary together.
void MaskBuilder::find_names(const Configuration& configuration, std::span<MaskWord> mask) {
  if (configuration.lex.names == KeyTrie::kNone) return;
  const ObjectForm& form =
      recogniser_.grammar().objects[recogniser_.grammar().terminals[configuration.lex.terminal].object];
  lex_path_.resize(static_cast<std::size_t>(trie_.deepest()) + 1);
  lex_path_[0] = configuration.lex;
  const auto last = static_cast<TokenTrie::Node>(trie_.size() - 1);
  for (TokenTrie::Node node = 1; node < last;) {
    const auto depth = static_cast<std::size_t>(trie_.depth(node));
    LexState& lex = lex_path_[depth];
    lex = lex_path_[depth - 1];
    const bool alive = recogniser_.step_lex(lex, configuration.memory, trie_.byte(node));
    if (lex.spelling == spelling::kClosed) {
      const std::uint32_t label = lex.names == KeyTrie::kNone ? KeyTrie::kNone : form.names->label(lex.names);
      if (label != KeyTrie::kNone) name_ends_.push_back({node, label});
      node = trie_.after(node);
      continue;
    }
    if (!alive || lex.names == KeyTrie::kNone) {
      node = trie_.after(node);
      continue;
    }
    set_tokens(node, mask);
    ++node;
  }
}

bool MaskBuilder::behind_name(TokenTrie::Node node) const {
  if (name_ends_.empty()) return false;
  auto place = std::ranges::upper_bound(name_ends_, node, {}, &NameEnd::quote);
  if (place == name_ends_.begin()) return false;
  --place;
  return node > place->quote && node < trie_.after(place->quote);
}

void MaskBuilder::follow_node(StateId before, TokenTrie::Node node, std::span<MaskWord> mask) {
  const StateId first = recogniser_.step(before, trie_.byte(node));
  if (first == kNoState) return;
  set_tokens(node, mask);
  const int base = trie_.depth(node);
  path_.assign(1, first);
  for (TokenTrie::Node below = node + 1; below < trie_.after(node);) {
    const auto level = static_cast<std::size_t>(trie_.depth(below) - base);
    const StateId next = recogniser_.step(path_[level - 1], trie_.byte(below));
    if (next == kNoState) {
      below = trie_.after(below);
      continue;
    }
    set_tokens(below, mask);
    path_.resize(level);
    path_.push_back(next);
    ++below;
  }
}

void MaskBuilder::set_tokens(TokenTrie::Node node, std::span<MaskWord> mask) const {
  for (const std::int32_t token : trie_.tokens(node)) set_bit(mask, token);
}

}  // namespace glmhost::constraints
