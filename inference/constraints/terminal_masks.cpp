#include "inference/constraints/terminal_masks.h"

#include <algorithm>

namespace glmhost::constraints {
namespace {

constexpr std::size_t kMostKnown = 2048;  // of 16 KiB and more each

}  // namespace

std::shared_ptr<const TerminalMask> TerminalMasks::find(const LexState& lex) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = known_.find(lex); known != known_.end()) return known->second;
  }
  auto mask = compute(lex);
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kMostKnown) known_.clear();
  known_[lex] = mask;
  return mask;
}

std::shared_ptr<const TerminalMask> TerminalMasks::compute(const LexState& lex) const {
  const Terminal& terminal = grammar_->terminals[lex.terminal];
  auto mask = std::make_shared<TerminalMask>();
  mask->inside.assign(trie_->mask_words(), 0);
  std::map<std::uint32_t, std::vector<TokenTrie::Node>> exits;
  // The terminal may end before the first byte too, but then the state has the following terminals beside it.
  std::vector<LexState> states(static_cast<std::size_t>(trie_->deepest()) + 1);
  states[0] = lex;
  const auto last = static_cast<TokenTrie::Node>(trie_->size() - 1);
  const bool is_bytes = terminal.kind == Terminal::Kind::bytes;
  for (TokenTrie::Node node = 1; node < last;) {
    const auto depth = static_cast<std::size_t>(trie_->depth(node));
    LexState& now = states[depth];
    now = states[depth - 1];
    if (!step_terminal(terminal, now, trie_->byte(node))) {
      node = trie_->after(node);
      continue;
    }
    for (const std::int32_t token : trie_->tokens(node)) set_bit(mask->inside, token);
    if (trie_->has_children(node)) {
      const std::uint32_t label = terminal_label(terminal, now);
      if (label != kNone) {
        auto& nodes = exits[label];
        for (TokenTrie::Node child = node + 1; child < trie_->after(node); child = trie_->after(child)) {
          nodes.push_back(child);
        }
      }
    }
    const bool goes_on = is_bytes ? terminal.dfa->has_edges(now.content) : now.spelling != spelling::kClosed;
    node = goes_on ? node + 1 : trie_->after(node);
  }
  for (auto& [label, nodes] : exits) {
    TerminalMask::Exits& group = mask->exits.emplace_back();
    group.label = label;
    for (const TokenTrie::Node node : nodes) ++group.first[std::size_t{trie_->byte(node)} + 1];
    for (std::size_t byte = 1; byte < group.first.size(); ++byte) group.first[byte] += group.first[byte - 1];
    group.nodes.resize(nodes.size());
    std::array<std::uint32_t, 257> next = group.first;
    for (const TokenTrie::Node node : nodes) group.nodes[next[trie_->byte(node)]++] = node;
  }
  return mask;
}

}  // namespace glmhost::constraints
