#include "inference/constraints/recogniser.h"

#include <algorithm>

#include "inference/error.h"

namespace glmhost::constraints {
namespace {

class Hasher {
 public:
  void add(std::uint64_t value) { hash_ = (hash_ ^ value) * 0x9E3779B97F4A7C15ull + (hash_ >> 31); }
  std::uint64_t value() const { return hash_ ^ hash_ >> 29; }

 private:
  std::uint64_t hash_ = 0x243F6A8885A308D3ull;
};

// In the language of what a JSON string means.
struct StringCursor {
  const Terminal& terminal;
  LexState& lex;

  bool step(std::uint8_t byte) { return (lex.content = terminal.dfa->step(lex.content, byte)) != kDead; }
  bool reaches(char32_t first, char32_t last) const {
    if (terminal.free_text) return terminal.dfa->accepts(lex.content);
    return constraints::reaches(*terminal.dfa, lex.content, first, last);
  }
  bool accepts() const { return terminal.dfa->accepts(lex.content) && lex.characters >= terminal.least; }
  bool begin_character() {
    if (terminal.most != kNone) return lex.characters++ < terminal.most;
    if (lex.characters < terminal.least) ++lex.characters;
    return true;
  }
  bool one_spelling() const { return terminal.one_spelling; }
};

// In the names of an object: known ones that may come now, and others.
struct KeyCursor {
  const Terminal& terminal;
  const ObjectForm& form;
  const Memory& memory;
  LexState& lex;

  bool below_available(KeyTrie::Node node) const {
    return memory.any_available(form.names->first_label(node), form.names->last_label(node));
  }
  bool step(std::uint8_t byte) {
    if (lex.content != kDead) lex.content = terminal.dfa->step(lex.content, byte);
    if (lex.names != KeyTrie::kNone) lex.names = form.names->step(lex.names, byte);
    return lex.content != kDead || (lex.names != KeyTrie::kNone && below_available(lex.names));
  }
  bool reaches_name(KeyTrie::Node node, const Utf8Run& run, int index) const {
    if (index >= run.length || index >= 4) return below_available(node);
    for (const KeyTrie::Child* child = form.names->children_begin(node); child != form.names->children_end(node);
         ++child) {
      if (child->byte < run.low[index] || child->byte > run.high[index]) continue;
      if (reaches_name(child->node, run, index + 1)) return true;
    }
    return false;
  }
  bool reaches(char32_t first, char32_t last) const {
    if (first < 0xD800 && last > 0xDFFF) return reaches(first, 0xD7FF) || reaches(0xE000, last);
    if (lex.content != kDead) {
      if (terminal.free_text ? terminal.dfa->accepts(lex.content)
                             : constraints::reaches(*terminal.dfa, lex.content, first, last)) {
        return true;
      }
    }
    if (lex.names == KeyTrie::kNone) return false;
    for (const Utf8Run& run : utf8_runs(first, last)) {
      if (reaches_name(lex.names, run, 0)) return true;
    }
    return false;
  }
  bool accepts() const {
    if (lex.names != KeyTrie::kNone && form.names->label(lex.names) != KeyTrie::kNone) {
      return memory.is_available(form.names->label(lex.names));
    }
    return lex.content != kDead && terminal.dfa->accepts(lex.content);
  }
  static bool begin_character() { return true; }
  bool one_spelling() const { return terminal.one_spelling; }
};

}  // namespace

bool step_terminal(const Terminal& terminal, LexState& lex, std::uint8_t byte) {
  if (terminal.kind == Terminal::Kind::bytes) return (lex.content = terminal.dfa->step(lex.content, byte)) != kDead;
  StringCursor cursor{terminal, lex};
  return step_json_text(lex.spelling, cursor, byte);
}

std::uint32_t terminal_label(const Terminal& terminal, const LexState& lex) {
  if (terminal.kind == Terminal::Kind::bytes) return terminal.dfa->accepts(lex.content) ? 0 : kNone;
  if (lex.spelling != spelling::kClosed) return kNone;
  return terminal.kind == Terminal::Kind::string ? 0 : terminal.dfa->label(lex.content);
}

Recogniser::Recogniser(std::shared_ptr<const Grammar> grammar) : grammar_(std::move(grammar)) {
  intern_memory({});
  intern_stack({}, true);
  Closure closure;
  closure.calls.push_back({grammar_->root, {}, true});
  closure.can_end = grammar_->rules[grammar_->root].nullable;
  start_ = finish(closure);
}

Recogniser::Recogniser(const Recogniser& other, StateId state, StateId& taken) : Recogniser(other.grammar_) {
  std::unordered_map<StackId, StackId> stacks;
  std::vector<Configuration> configurations;
  for (Configuration configuration : other.configurations(state)) {
    configuration.memory = intern_memory(*other.memories_[configuration.memory]);
    configuration.stack = take_stack(other, configuration.stack, stacks);
    configurations.push_back(configuration);
  }
  std::ranges::sort(configurations);
  taken = intern_state(std::move(configurations), other.can_end(state));
}

StackId Recogniser::take_stack(const Recogniser& other, StackId stack, std::unordered_map<StackId, StackId>& taken) {
  // Depth first without recursion: a text may be nested deeper than the program's own stack.
  std::vector<StackId> work = {stack};
  while (!work.empty()) {
    const StackId top = work.back();
    if (taken.contains(top)) {
      work.pop_back();
      continue;
    }
    bool complete = true;
    for (const Return& back : other.stacks_[top].returns) {
      if (taken.contains(back.stack)) continue;
      work.push_back(back.stack);
      complete = false;
    }
    if (!complete) continue;
    std::vector<Return> returns;
    for (Return back : other.stacks_[top].returns) {
      back.memory = intern_memory(*other.memories_[back.memory]);
      back.stack = taken.at(back.stack);
      returns.push_back(back);
    }
    taken[top] = intern_stack(std::move(returns), other.stacks_[top].bottom);
    work.pop_back();
  }
  return taken.at(stack);
}

bool Recogniser::step_lex(LexState& lex, MemoryId memory, std::uint8_t byte) const {
  const Terminal& terminal = grammar_->terminals[lex.terminal];
  if (terminal.kind != Terminal::Kind::key) return step_terminal(terminal, lex, byte);
  KeyCursor cursor{terminal, grammar_->objects[terminal.object], *memories_[memory], lex};
  return step_json_text(lex.spelling, cursor, byte);
}

std::uint32_t Recogniser::label(const LexState& lex) const {
  const Terminal& terminal = grammar_->terminals[lex.terminal];
  if (terminal.kind != Terminal::Kind::key) return terminal_label(terminal, lex);
  if (lex.spelling != spelling::kClosed) return kNone;
  const ObjectForm& form = grammar_->objects[terminal.object];
  if (lex.names != KeyTrie::kNone && form.names->label(lex.names) != KeyTrie::kNone) {
    return form.names->label(lex.names);
  }
  return static_cast<std::uint32_t>(form.properties.size()) + terminal_label(terminal, lex);
}

StateId Recogniser::step(StateId state, std::uint8_t byte) {
  const StepKey key{state, byte};
  if (const auto known = steps_.find(key); known != steps_.end()) return known->second;
  Closure closure;
  for (const Configuration& before : states_[state].configurations) {
    Configuration after = before;
    if (!step_lex(after.lex, after.memory, byte)) continue;
    const std::uint32_t ended = label(after.lex);
    const Terminal& terminal = grammar_->terminals[after.lex.terminal];
    const bool goes_on = terminal.kind == Terminal::Kind::bytes ? terminal.dfa->has_edges(after.lex.content)
                                                                : after.lex.spelling != spelling::kClosed;
    if (goes_on) closure.configurations.push_back(after);
    if (ended != kNone) end_terminal(closure, after, ended);
  }
  const StateId next = finish(closure);
  steps_.emplace(key, next);
  return next;
}

StateId Recogniser::follow(const Configuration& configuration, std::uint32_t label) {
  Closure closure;
  end_terminal(closure, configuration, label);
  return finish(closure);
}

void Recogniser::end_terminal(Closure& closure, const Configuration& configuration, std::uint32_t label) {
  MemoryId memory = configuration.memory;
  if (grammar_->terminals[configuration.lex.terminal].kind == Terminal::Kind::key) memory = with_key(memory, label);
  add_item(closure, {configuration.next, memory, configuration.stack});
}

void Recogniser::add_item(Closure& closure, const Return& item) {
  if (std::ranges::find(closure.items, item) != closure.items.end()) return;
  if (closure.items.size() >= kMostConfigurations) {
    throw Error(ErrorKind::bad_argument,
                "The grammar is too ambiguous: the text can be read in too many ways at once.");
  }
  closure.items.push_back(item);
}

// First everything that is reached by ending rules, then the rules that are called, callers before what they call:
// by then all places are known that a call returns to.
StateId Recogniser::finish(Closure& closure) {
  for (std::size_t i = 0; i < closure.items.size(); ++i) {
    const Return item = closure.items[i];
    expand(closure, item, false);
  }
  while (!closure.calls.empty()) {
    const auto next = std::ranges::min_element(
        closure.calls, {}, [&](const Closure::Call& called) { return grammar_->rules[called.rule].rank; });
    Closure::Call called = std::move(*next);
    closure.calls.erase(next);
    const StackId stack = intern_stack(std::move(called.returns), called.bottom);
    expand(closure, {grammar_->rules[called.rule].start, 0, stack}, true);
  }
  auto& configurations = closure.configurations;
  std::ranges::sort(configurations);
  configurations.erase(std::unique(configurations.begin(), configurations.end()), configurations.end());
  if (configurations.size() > kMostConfigurations) {
    throw Error(ErrorKind::bad_argument,
                "The grammar is too ambiguous: the text can be read in too many ways at once.");
  }
  if (configurations.empty() && !closure.can_end) return kNoState;
  return intern_state(std::move(configurations), closure.can_end);
}

void Recogniser::go_on(Closure& closure, const Return& item, bool fresh) {
  if (fresh) {
    expand(closure, item, true);
  } else {
    add_item(closure, item);
  }
}

void Recogniser::expand(Closure& closure, const Return& item, bool fresh) {
  const Node& node = grammar_->nodes[item.node];
  switch (node.kind) {
    case Node::Kind::plain:
      for (const Edge& edge : node.edges) {
        const Return next{edge.target, 0, item.stack};
        if (edge.kind == Edge::Kind::terminal) {
          begin_terminal(closure, edge.what, next);
          continue;
        }
        call(closure, edge.what, next);
        if (grammar_->rules[edge.what].nullable) go_on(closure, next, fresh);
      }
      // A fresh call that matches nothing has been passed by its caller.
      if (node.accepts && !fresh) leave(closure, item.stack);
      return;
    case Node::Kind::repetition: {
      const RepetitionForm& form = grammar_->repetitions[node.form];
      const std::uint32_t items = item.memory == 0 ? 0 : memories_[item.memory]->data[0];
      if (items < form.most) {
        const std::uint32_t next = form.most == kNone ? std::min(items + 1, form.least) : items + 1;
        call(closure, form.rule, {item.node, counts(node.form, {next}), item.stack});
      }
      if (items >= form.least || form.nullable) go_on(closure, {form.end, 0, item.stack}, fresh);
      return;
    }
    case Node::Kind::array_first:
    case Node::Kind::array_after:
    case Node::Kind::array_item:
      return expand_array(closure, node, item);
    default:
      return expand_object(closure, node, item);
  }
}

void Recogniser::expand_object(Closure& closure, const Node& node, const Return& item) {
  const ObjectForm& form = grammar_->objects[node.form];
  const MemoryId memory =
      node.kind == Node::Kind::object_first ? object_memory(node.form, initial_object_data(form)) : item.memory;
  const Memory& remembered = *memories_[memory];
  const bool more = remembered.others_available || remembered.any_available();
  switch (node.kind) {
    case Node::Kind::object_first:
      if (remembered.can_close) begin_terminal(closure, form.close_empty, {form.end, 0, item.stack});
      if (more) begin_terminal(closure, form.key, {form.after_key, memory, item.stack});
      return;
    case Node::Kind::object_colon:
      return begin_terminal(closure, form.colon, {form.value, memory, item.stack});
    case Node::Kind::object_value: {
      const std::uint32_t label = remembered.data[Memory::kLabel] - 1;
      const auto known = static_cast<std::uint32_t>(form.properties.size());
      std::vector<std::uint32_t> data = remembered.data;
      data[Memory::kLabel] = 0;
      const RuleId rule = label < known ? form.properties[label].rule : form.others[label - known];
      return call(closure, rule, {form.after, object_memory(node.form, std::move(data)), item.stack});
    }
    case Node::Kind::object_after:
      if (remembered.can_close) begin_terminal(closure, form.close, {form.end, 0, item.stack});
      if (more) begin_terminal(closure, form.comma, {form.next_key, memory, item.stack});
      return;
    default:
      return begin_terminal(closure, form.key, {form.after_key, memory, item.stack});
  }
}

void Recogniser::expand_array(Closure& closure, const Node& node, const Return& item) {
  const ArrayForm& form = grammar_->arrays[node.form];
  const bool has_memory = item.memory != 0;
  const std::uint32_t items = has_memory ? memories_[item.memory]->data[0] : 0;
  const std::uint32_t hits = has_memory ? memories_[item.memory]->data[1] : 0;
  const std::uint32_t bound = form.most != kNone || !form.contains.empty()
                                  ? kNone
                                  : std::max(static_cast<std::uint32_t>(form.slots.size()), form.least);
  const auto feasible = [&](std::uint32_t after_items, std::uint32_t after_hits) {
    return form.feasible[std::size_t{after_items} * (form.most_hits + 1) + after_hits];
  };
  // The items that may come next, and what is remembered then.
  const auto each_choice = [&](const auto& use) {
    if (items >= form.most || form.slots.empty()) return;
    const auto& slot = form.slots[std::min<std::size_t>(items, form.slots.size() - 1)];
    for (const ArrayForm::Choice& choice : slot) {
      std::uint32_t next_items = items + 1, next_hits = 0;
      if (form.contains.empty()) {
        next_items = std::min(next_items, bound);
      } else {
        next_items = std::min(next_items, form.bound);
        next_hits = hits + (choice.hits != 0 ? 1 : 0);
        if (next_hits > form.most_hits) {
          if (form.contains[0].most != kNone) continue;
          next_hits = form.most_hits;
        }
        if (!feasible(next_items, next_hits)) continue;
      }
      use(choice.rule, next_items, next_hits);
    }
  };
  const bool can_close = items >= form.least && (form.contains.empty() || hits >= form.contains[0].least);
  if (node.kind == Node::Kind::array_after) {
    bool more = false;
    each_choice([&](RuleId, std::uint32_t, std::uint32_t) { more = true; });
    if (can_close) begin_terminal(closure, form.close, {form.end, 0, item.stack});
    if (more) begin_terminal(closure, form.comma, {form.item, item.memory, item.stack});
    return;
  }
  if (node.kind == Node::Kind::array_first && can_close) {
    begin_terminal(closure, form.close_empty, {form.end, 0, item.stack});
  }
  each_choice([&](RuleId rule, std::uint32_t next_items, std::uint32_t next_hits) {
    call(closure, rule, {form.after, counts(node.form, {next_items, next_hits}), item.stack});
  });
}

void Recogniser::begin_terminal(Closure& closure, TerminalId id, const Return& next) {
  const Terminal& terminal = grammar_->terminals[id];
  LexState lex;
  lex.terminal = id;
  lex.content = terminal.dfa ? terminal.dfa->start() : kDead;
  if (terminal.kind != Terminal::Kind::bytes) lex.spelling = spelling::kOpening;
  if (terminal.kind == Terminal::Kind::key) {
    if (!memories_[next.memory]->others_available) lex.content = kDead;
    lex.names = KeyTrie::kRoot;
  }
  closure.configurations.push_back({lex, next.node, next.memory, next.stack});
}

void Recogniser::call(Closure& closure, RuleId rule, const Return& back) {
  auto called = std::ranges::find(closure.calls, rule, &Closure::Call::rule);
  if (called == closure.calls.end()) {
    closure.calls.push_back({rule, {}, false});
    called = closure.calls.end() - 1;
  }
  const Node& node = grammar_->nodes[back.node];
  if (node.kind == Node::Kind::plain && node.accepts && node.edges.empty()) {
    // Nothing is left to do there: return straight to the caller's caller, and a list does not grow the stack.
    const Stack& stack = stacks_[back.stack];
    called->returns.insert(called->returns.end(), stack.returns.begin(), stack.returns.end());
    called->bottom = called->bottom || stack.bottom;
  } else {
    called->returns.push_back(back);
  }
}

void Recogniser::leave(Closure& closure, StackId stack) {
  if (stacks_[stack].bottom) closure.can_end = true;
  for (const Return& back : stacks_[stack].returns) add_item(closure, back);
}

StackId Recogniser::intern_stack(std::vector<Return> returns, bool bottom) {
  std::ranges::sort(returns);
  returns.erase(std::unique(returns.begin(), returns.end()), returns.end());
  Hasher hasher;
  hasher.add(bottom ? 1 : 0);
  for (const Return& back : returns) {
    hasher.add(std::uint64_t{back.node} << 32 | back.memory);
    hasher.add(back.stack);
  }
  const auto [first, last] = stack_index_.equal_range(hasher.value());
  for (auto place = first; place != last; ++place) {
    const Stack& known = stacks_[place->second];
    if (known.bottom == bottom && known.returns == returns) return place->second;
  }
  const auto id = static_cast<StackId>(stacks_.size());
  stacks_.push_back({std::move(returns), bottom});
  stack_index_.emplace(hasher.value(), id);
  return id;
}

MemoryId Recogniser::intern_memory(Memory memory) {
  Hasher hasher;
  hasher.add(static_cast<std::uint64_t>(memory.kind) << 32 | memory.form);
  for (const std::uint32_t word : memory.data) hasher.add(word);
  const auto [first, last] = memory_index_.equal_range(hasher.value());
  for (auto place = first; place != last; ++place) {
    if (memories_[place->second]->same(memory)) return place->second;
  }
  if (memory.kind == Memory::Kind::object) derive(grammar_->objects[memory.form], memory);
  const auto id = static_cast<MemoryId>(memories_.size());
  memories_.push_back(std::make_shared<const Memory>(std::move(memory)));
  memory_index_.emplace(hasher.value(), id);
  return id;
}

MemoryId Recogniser::object_memory(std::uint32_t form, std::vector<std::uint32_t> data) {
  Memory memory;
  memory.kind = Memory::Kind::object;
  memory.form = form;
  memory.data = std::move(data);
  return intern_memory(std::move(memory));
}

MemoryId Recogniser::with_key(MemoryId memory, std::uint32_t label) {
  const Memory& before = *memories_[memory];
  return object_memory(before.form, object_data_with_key(grammar_->objects[before.form], before, label));
}

MemoryId Recogniser::counts(std::uint32_t form, std::vector<std::uint32_t> data) {
  Memory memory;
  memory.kind = Memory::Kind::counts;
  memory.form = form;
  memory.data = std::move(data);
  return intern_memory(std::move(memory));
}

StateId Recogniser::intern_state(std::vector<Configuration> configurations, bool can_end) {
  Hasher hasher;
  hasher.add(can_end ? 1 : 0);
  for (const Configuration& c : configurations) {
    hasher.add(std::uint64_t{c.lex.terminal} << 32 | c.lex.content);
    hasher.add(std::uint64_t{c.lex.names} << 32 | c.lex.characters);
    hasher.add(std::uint64_t{c.lex.spelling} << 32 | c.next);
    hasher.add(std::uint64_t{c.memory} << 32 | c.stack);
  }
  const auto [first, last] = state_index_.equal_range(hasher.value());
  for (auto place = first; place != last; ++place) {
    const State& known = states_[place->second];
    if (known.can_end == can_end && known.configurations == configurations) return place->second;
  }
  const auto id = static_cast<StateId>(states_.size());
  states_.push_back({std::move(configurations), can_end});
  state_index_.emplace(hasher.value(), id);
  return id;
}

}  // namespace glmhost::constraints
