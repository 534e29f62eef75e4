// Reads a text byte by byte and knows at every point how it may go on: a set of configurations, each a terminal that
// is being read and a stack of what comes after it.
//
// All ways to read the text are followed at once. Stacks share their tails, and calls of one rule at one place share
// one stack (as in generalised parsing), so an ambiguous grammar does not multiply them. Stacks, memories of objects
// and arrays, and states are numbered, equal ones once: a state's successors are remembered, and so are its masks.
//
// Thread rules: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "inference/constraints/grammar.h"
#include "inference/constraints/json_text.h"
#include "inference/constraints/memory.h"

namespace glmhost::constraints {

using StateId = std::uint32_t;
using StackId = std::uint32_t;
using MemoryId = std::uint32_t;

inline constexpr StateId kNoState = 0xFFFFFFFF;  // the text cannot go on like that

// Inside one terminal.
struct LexState {
  TerminalId terminal = 0;
  DfaState content = kDead;
  std::uint32_t names = KeyTrie::kNone;  // key: node of the known names, or kNone when it is none of them any more
  std::uint32_t characters = 0;          // string with bounds: counted as far as it matters
  Spelling spelling = 0;                 // string, key

  auto operator<=>(const LexState&) const = default;
};

struct Configuration {
  LexState lex;
  NodeId next;  // after the terminal
  MemoryId memory;
  StackId stack;

  auto operator<=>(const Configuration&) const = default;
};

// One byte inside a terminal; false when it cannot go on like that. Of a key terminal: the part that is no known name
// (lex.names is not looked at).
bool step_terminal(const Terminal& terminal, LexState& lex, std::uint8_t byte);
// What it may end as there, or kNone; of a key terminal the label of its automaton.
std::uint32_t terminal_label(const Terminal& terminal, const LexState& lex);

class Recogniser {
 public:
  explicit Recogniser(std::shared_ptr<const Grammar> grammar);
  // A recogniser of its own that begins at a state of another: only what the state needs is taken over.
  Recogniser(const Recogniser& other, StateId state, StateId& taken);

  StateId start() const { return start_; }
  // kNoState when nothing goes on like that. Throws Error(bad_argument) when the grammar is too ambiguous here: more
  // than kMostConfigurations at once.
  StateId step(StateId state, std::uint8_t byte);
  bool can_end(StateId state) const { return states_[state].can_end; }
  std::span<const Configuration> configurations(StateId state) const { return states_[state].configurations; }
  std::size_t states() const { return states_.size(); }

  const Grammar& grammar() const { return *grammar_; }
  const std::shared_ptr<const Grammar>& shared_grammar() const { return grammar_; }
  const Memory& memory(MemoryId id) const { return *memories_[id]; }

  // One byte inside a terminal; false when it cannot go on like that.
  bool step_lex(LexState& lex, MemoryId memory, std::uint8_t byte) const;
  // What the terminal may end as here: a label, or kNone when it may not end. A key of a known property has the
  // property's label; others have their automaton's label behind those.
  std::uint32_t label(const LexState& lex) const;
  // The state at the beginning of what comes after the configuration's terminal, ended with LABEL.
  StateId follow(const Configuration& configuration, std::uint32_t label);

  static constexpr std::size_t kMostConfigurations = 4096;

 private:
  struct Return {
    NodeId node;
    MemoryId memory;
    StackId stack;
    auto operator<=>(const Return&) const = default;
  };
  struct Stack {
    std::vector<Return> returns;
    bool bottom = false;  // the text may end when this stack is left
  };
  struct State {
    std::vector<Configuration> configurations;
    bool can_end = false;
  };
  // What comes after a byte while it is worked out.
  struct Closure {
    struct Call {
      RuleId rule;
      std::vector<Return> returns;
      bool bottom = false;
    };
    std::vector<Return> items;  // places that have been reached
    std::vector<Call> calls;
    std::vector<Configuration> configurations;
    bool can_end = false;
  };

  struct StepKey {
    StateId state;
    std::uint32_t byte;
    bool operator==(const StepKey&) const = default;
  };
  struct StepKeyHash {
    std::size_t operator()(const StepKey& key) const {
      return (std::uint64_t{key.state} << 8 | key.byte) * 0x9E3779B97F4A7C15ull >> 13;
    }
  };

  static void add_item(Closure& closure, const Return& item);
  // FRESH: at the beginning of a call, before a byte of it.
  void expand(Closure& closure, const Return& item, bool fresh);
  void expand_object(Closure& closure, const Node& node, const Return& item);
  void expand_array(Closure& closure, const Node& node, const Return& item);
  void go_on(Closure& closure, const Return& item, bool fresh);
  void begin_terminal(Closure& closure, TerminalId terminal, const Return& next);
  void call(Closure& closure, RuleId rule, const Return& back);
  void leave(Closure& closure, StackId stack);
  void end_terminal(Closure& closure, const Configuration& configuration, std::uint32_t label);
  StateId finish(Closure& closure);

  StackId intern_stack(std::vector<Return> returns, bool bottom);
  MemoryId intern_memory(Memory memory);
  MemoryId object_memory(std::uint32_t form, std::vector<std::uint32_t> data);
  MemoryId with_key(MemoryId memory, std::uint32_t label);
  MemoryId counts(std::uint32_t form, std::vector<std::uint32_t> data);
  StateId intern_state(std::vector<Configuration> configurations, bool can_end);
  StackId take_stack(const Recogniser& other, StackId stack, std::unordered_map<StackId, StackId>& taken);

  std::shared_ptr<const Grammar> grammar_;
  std::vector<Stack> stacks_;
  std::vector<std::shared_ptr<const Memory>> memories_;
  std::vector<State> states_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> stack_index_, memory_index_, state_index_;
  std::unordered_map<StepKey, StateId, StepKeyHash> steps_;
  StateId start_ = 0;
};

}  // namespace glmhost::constraints
