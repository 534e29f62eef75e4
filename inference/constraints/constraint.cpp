#include "inference/constraints/constraint.h"

#include <array>

#include "inference/constraints/mask_builder.h"
#include "inference/constraints/recogniser.h"
#include "inference/constraints/terminal_masks.h"
#include "inference/tokenizer/utf8.h"

namespace glmhost::constraints {
namespace {

// A recogniser that knows more states than this gives way to a fresh one that knows the current state only.
constexpr std::size_t kMostStates = 20'000;

}  // namespace

struct Constraint::Shared {
  Shared(std::shared_ptr<const Grammar> its_grammar, std::shared_ptr<const TokenTrie> its_trie)
      : grammar(std::move(its_grammar)), trie(std::move(its_trie)), terminal_masks(trie, grammar) {}

  std::shared_ptr<const Grammar> grammar;
  std::shared_ptr<const TokenTrie> trie;
  TerminalMasks terminal_masks;
};

const TokenTrie& Constraint::vocabulary() const {
  return *shared_->trie;
}

const Grammar& Constraint::grammar() const {
  return *shared_->grammar;
}

std::shared_ptr<const Constraint> compile(const Spec& spec, std::shared_ptr<const TokenTrie> vocabulary) {
  return std::make_shared<const Constraint>(
      std::make_shared<Constraint::Shared>(compile_grammar(spec), std::move(vocabulary)));
}

struct ConstraintState::Working {
  Working(const Constraint::Shared& shared, TerminalMasks& masks)
      : recogniser(shared.grammar), builder(*shared.trie, masks, recogniser) {}
  Working(const Constraint::Shared& shared, TerminalMasks& masks, const Recogniser& other, StateId state,
          StateId& taken)
      : recogniser(other, state, taken), builder(*shared.trie, masks, recogniser) {}
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;

  struct Known {
    StateId state = kNoState;
    std::vector<MaskWord> mask;
  };
  // Masks of a few states: in a long string it is the same one again and again.
  const std::vector<MaskWord>& mask_of(StateId state, std::size_t words) {
    for (const Known& one : known) {
      if (one.state == state) return one.mask;
    }
    Known& place = known[next];
    next = (next + 1) % known.size();
    place.state = kNoState;  // in case building throws
    place.mask.resize(words);
    builder.build(state, place.mask);
    place.state = state;
    return place.mask;
  }

  Recogniser recogniser;
  MaskBuilder builder;
  std::array<Known, 8> known;
  std::size_t next = 0;
};

ConstraintState::ConstraintState(std::shared_ptr<const Constraint> constraint) : constraint_(std::move(constraint)) {
  Constraint::Shared& shared = *constraint_->shared();
  working_ = std::make_shared<Working>(shared, shared.terminal_masks);
  state_ = working_->recogniser.start();
}

std::span<const MaskWord> ConstraintState::mask() {
  make_room();
  return working_->mask_of(state_, constraint_->vocabulary().mask_words());
}

void ConstraintState::make_room() {
  if (working_->recogniser.states() < kMostStates) return;
  Constraint::Shared& shared = *constraint_->shared();
  StateId taken = kNoState;
  working_ = std::make_shared<Working>(shared, shared.terminal_masks, working_->recogniser, state_, taken);
  state_ = taken;
}

bool ConstraintState::accept(std::int32_t token) {
  const TokenTrie& trie = constraint_->vocabulary();
  if (ended_ || token < 0 || token >= trie.vocabulary_size()) return false;
  if (trie.is_end_token(token)) return ended_ = can_end();
  const std::string_view bytes = trie.bytes(token);
  if (bytes.empty()) return false;
  make_room();
  StateId state = state_;
  for (const char byte : bytes) {
    state = working_->recogniser.step(state, static_cast<std::uint8_t>(byte));
    if (state == kNoState) return false;
  }
  state_ = state;
  return true;
}

std::size_t ConstraintState::accept_text(std::string_view bytes) {
  if (ended_) return 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    make_room();
    const StateId next = working_->recogniser.step(state_, static_cast<std::uint8_t>(bytes[i]));
    if (next == kNoState) return i;
    state_ = next;
  }
  return bytes.size();
}

bool ConstraintState::can_end() const {
  return working_->recogniser.can_end(state_);
}

bool ConstraintState::is_complete() const {
  return ended_ || (can_end() && working_->recogniser.configurations(state_).empty());
}

std::string ConstraintState::forced_text(std::size_t most) const {
  std::string text;
  if (ended_) return text;
  Recogniser& recogniser = working_->recogniser;
  StateId state = state_;
  std::size_t whole = 0;  // length of the text's whole characters
  while (text.size() < most && !recogniser.can_end(state)) {
    StateId next = kNoState;
    std::uint8_t forced = 0;
    bool choice = false;
    for (int byte = 0; byte < 256 && !choice; ++byte) {
      const StateId reached = recogniser.step(state, static_cast<std::uint8_t>(byte));
      if (reached == kNoState) continue;
      choice = next != kNoState;
      next = reached;
      forced = static_cast<std::uint8_t>(byte);
    }
    if (choice || next == kNoState) break;
    state = next;
    text += static_cast<char>(forced);
    if (tokenizer::utf8_sequence_length(std::string_view(text).substr(whole)) > 0) whole = text.size();
  }
  text.resize(whole);
  return text;
}

}  // namespace glmhost::constraints
