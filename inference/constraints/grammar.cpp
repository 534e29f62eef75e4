#include "inference/constraints/grammar.h"

#include <algorithm>

#include "inference/error.h"

namespace glmhost::constraints {
namespace {

constexpr std::size_t kMostFeasibleEntries = 4'000'000;

// Fixed points over a grammar: which rules can be completed, which match the empty text, which call which first.
class Finisher {
 public:
  explicit Finisher(Grammar& grammar) : grammar_(grammar), good_(grammar.nodes.size(), false) {}

  void run(const std::string& nothing_matches) {
    find_productive();
    if (!grammar_.rules[grammar_.root].productive) throw Error(ErrorKind::bad_argument, nothing_matches);
    remove_dead();
    find_nullable();
    rank_rules();
  }

 private:
  bool productive(RuleId rule) const { return rule != kNone && grammar_.rules[rule].productive; }

  void find_productive() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = grammar_.nodes.size(); i-- > 0;) {
        if (good_[i] || !can_end(grammar_.nodes[i])) continue;
        good_[i] = true;
        changed = true;
      }
      for (Rule& rule : grammar_.rules) {
        if (rule.productive || !good_[rule.start]) continue;
        rule.productive = true;
        changed = true;
      }
    }
  }

  bool can_end(const Node& node) {
    switch (node.kind) {
      case Node::Kind::plain:
        return node.accepts || std::ranges::any_of(node.edges, [&](const Edge& edge) { return usable(edge); });
      case Node::Kind::array_first:
        return array_can_end(grammar_.arrays[node.form]);
      case Node::Kind::object_first:
        return object_can_end(grammar_.objects[node.form]);
      case Node::Kind::repetition: {
        const RepetitionForm& form = grammar_.repetitions[node.form];
        return good_[form.end] && (form.least == 0 || productive(form.rule));
      }
      default:
        return true;  // inside an object or array: its first node decides
    }
  }

  bool usable(const Edge& edge) const {
    if (!good_[edge.target]) return false;
    if (edge.kind == Edge::Kind::call) return productive(edge.what);
    const Terminal& terminal = grammar_.terminals[edge.what];
    return terminal.kind == Terminal::Kind::key || (terminal.dfa && !terminal.dfa->empty());
  }

  // Forbids what can never come, and says whether the object can be completed.
  bool object_can_end(const ObjectForm& form) const {
    std::vector<bool> possible;
    for (const auto& property : form.properties) possible.push_back(productive(property.rule));
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < possible.size(); ++i) {
        if (!possible[i]) continue;
        for (const std::uint32_t dependent : form.properties[i].dependents) {
          if (possible[dependent]) continue;
          possible[i] = false;
          changed = true;
        }
      }
    }
    // What the required ones require is required.
    std::vector<bool> required(possible.size(), false);
    std::vector<std::uint32_t> work;
    for (std::uint32_t i = 0; i < required.size(); ++i) {
      if (form.properties[i].required) work.push_back(i);
    }
    std::uint32_t count = 0;
    while (!work.empty()) {
      const std::uint32_t i = work.back();
      work.pop_back();
      if (required[i]) continue;
      if (!possible[i]) return false;
      required[i] = true;
      ++count;
      const auto& dependents = form.properties[i].dependents;
      work.insert(work.end(), dependents.begin(), dependents.end());
    }
    if (count > form.most || form.least > form.most) return false;
    if (std::ranges::any_of(form.others, [&](RuleId rule) { return productive(rule); })) return true;
    return static_cast<std::size_t>(std::ranges::count(possible, true)) >= form.least;
  }

  bool choice_exists(const ArrayForm& form, std::size_t index) const {
    if (form.slots.empty()) return false;
    const auto& slot = form.slots[std::min(index, form.slots.size() - 1)];
    return std::ranges::any_of(slot, [&](const auto& choice) { return productive(choice.rule); });
  }

  // The most items there can be.
  std::uint32_t longest(const ArrayForm& form) const {
    for (std::uint32_t i = 0; i < std::max<std::size_t>(form.slots.size(), 1) && i < form.most; ++i) {
      if (!choice_exists(form, i)) return i;
    }
    return form.most;
  }

  bool array_can_end(const ArrayForm& form) const {
    if (form.contains.empty()) return form.least <= longest(form);
    ArrayForm copy = form;
    copy.most = longest(form);
    const auto only_productive = [&](const ArrayForm::Choice& choice) { return !productive(choice.rule); };
    for (auto& slot : copy.slots) std::erase_if(slot, only_productive);
    return feasibility(copy)[0];
  }

  // feasible[items * (hits + 1) + hit count]: the array can be completed from there. Item counts from `bound` on are
  // alike.
  static std::vector<bool> feasibility(ArrayForm& form) {
    const ArrayForm::Contains& contains = form.contains[0];
    form.most_hits = contains.most == kNone ? contains.least : contains.most;
    form.bound = form.most != kNone ? form.most
                                    : static_cast<std::uint32_t>(std::max<std::size_t>(form.slots.size(), form.least));
    const std::uint64_t width = std::uint64_t{form.most_hits} + 1;
    if (width * (std::uint64_t{form.bound} + 1) > kMostFeasibleEntries) {
      throw Error(ErrorKind::bad_argument, "`contains` together with such large counts of items is not supported.");
    }
    std::vector<bool> feasible(width * (form.bound + 1), false);
    for (std::uint32_t items = form.bound + 1; items-- > 0;) {
      for (std::uint32_t hits = form.most_hits + 1; hits-- > 0;) {
        bool can = items >= form.least && hits >= contains.least;
        if (!can && (items < form.most || form.most == kNone) && !form.slots.empty()) {
          const std::uint32_t next = std::min(items + 1, form.bound);
          for (const auto& choice : form.slots[std::min<std::size_t>(items, form.slots.size() - 1)]) {
            std::uint32_t hit = hits + (choice.hits != 0 ? 1 : 0);
            if (hit > form.most_hits) {
              if (contains.most != kNone) continue;
              hit = form.most_hits;
            }
            if (next == items && hit == hits) continue;  // no progress
            if (feasible[next * width + hit]) can = true;
          }
        }
        feasible[items * width + hits] = can;
      }
    }
    return feasible;
  }

  void remove_dead() {
    for (Node& node : grammar_.nodes) {
      std::erase_if(node.edges, [&](const Edge& edge) { return !usable(edge); });
    }
    for (ObjectForm& form : grammar_.objects) forbid_unproductive(form);
    for (ArrayForm& form : grammar_.arrays) {
      form.most = longest(form);
      for (auto& slot : form.slots) {
        std::erase_if(slot, [&](const ArrayForm::Choice& choice) { return !productive(choice.rule); });
      }
      if (!form.contains.empty()) form.feasible = feasibility(form);
    }
  }

  void forbid_unproductive(ObjectForm& form) {
    for (bool changed = true; changed;) {
      changed = false;
      for (auto& property : form.properties) {
        if (property.rule == kNone) continue;
        const bool lacks = std::ranges::any_of(
            property.dependents, [&](std::uint32_t label) { return form.properties[label].rule == kNone; });
        if (productive(property.rule) && !lacks) continue;
        property.rule = kNone;
        changed = true;
      }
    }
    bool dropped = false;
    for (RuleId& rule : form.others) {
      if (productive(rule)) continue;
      rule = kNone;
      dropped = true;
    }
    Terminal& key = grammar_.terminals[form.key];
    if (!dropped || !key.dfa) return;
    const Dfa nothing({}, {}, 0);
    key.dfa = combine(*key.dfa, nothing, [&](std::uint32_t label, std::uint32_t) {
      return label != kNoLabel && form.others[label] != kNone ? label : kNoLabel;
    });
    if (key.dfa->empty()) key.dfa = nullptr;
    key.free_text = false;
  }

  // The nodes that a fresh call of a rule stands at, through parts that match nothing.
  template <typename OnCall>
  bool walk_fresh(NodeId start, OnCall&& on_call) const {
    std::vector<NodeId> work = {start}, seen;
    bool accepts = false;
    while (!work.empty()) {
      const NodeId id = work.back();
      work.pop_back();
      if (std::ranges::find(seen, id) != seen.end()) continue;
      seen.push_back(id);
      const Node& node = grammar_.nodes[id];
      if (node.kind == Node::Kind::repetition) {
        const RepetitionForm& form = grammar_.repetitions[node.form];
        if (form.most > 0) on_call(form.rule);
        if (form.least == 0 || grammar_.rules[form.rule].nullable) work.push_back(form.end);
        continue;
      }
      accepts = accepts || node.accepts;
      for (const Edge& edge : node.edges) {
        if (edge.kind != Edge::Kind::call) continue;
        on_call(edge.what);
        if (grammar_.rules[edge.what].nullable) work.push_back(edge.target);
      }
    }
    return accepts;
  }

  void find_nullable() {
    for (bool changed = true; changed;) {
      changed = false;
      for (Rule& rule : grammar_.rules) {
        if (rule.nullable || !walk_fresh(rule.start, [](RuleId) {})) continue;
        rule.nullable = true;
        changed = true;
      }
    }
    for (RepetitionForm& form : grammar_.repetitions) form.nullable = grammar_.rules[form.rule].nullable;
  }

  // Depth first over first calls; a rule that is met again on the way to itself is left recursive.
  void rank_rules() {
    std::vector<std::vector<RuleId>> calls(grammar_.rules.size());
    for (RuleId i = 0; i < calls.size(); ++i) {
      walk_fresh(grammar_.rules[i].start, [&](RuleId called) { calls[i].push_back(called); });
    }
    enum class Mark : std::uint8_t { fresh, open, done };
    std::vector<Mark> marks(calls.size(), Mark::fresh);
    std::uint32_t next_rank = static_cast<std::uint32_t>(calls.size());
    std::vector<std::pair<RuleId, std::size_t>> path;
    for (RuleId first = 0; first < calls.size(); ++first) {
      if (marks[first] != Mark::fresh) continue;
      path.emplace_back(first, 0);
      marks[first] = Mark::open;
      while (!path.empty()) {
        const RuleId rule = path.back().first;
        if (path.back().second == calls[rule].size()) {
          marks[rule] = Mark::done;
          grammar_.rules[rule].rank = --next_rank;
          path.pop_back();
          continue;
        }
        const RuleId called = calls[rule][path.back().second++];
        if (marks[called] == Mark::open) refuse_left_recursion(path, called);
        if (marks[called] != Mark::fresh) continue;
        marks[called] = Mark::open;
        path.emplace_back(called, 0);
      }
    }
  }

  [[noreturn]] void refuse_left_recursion(const std::vector<std::pair<RuleId, std::size_t>>& path, RuleId rule) const {
    std::string names;
    bool inside = false;
    for (const auto& [on_path, next] : path) {
      inside = inside || on_path == rule;
      if (inside && !grammar_.rules[on_path].name.empty()) names += "`" + grammar_.rules[on_path].name + "` -> ";
    }
    throw Error(ErrorKind::bad_argument,
                "The grammar is left recursive: " + names + "`" + grammar_.rules[rule].name +
                    "` comes back to itself before it has matched a character. Write the repetition with * or +, or "
                    "put the recursive part last.");
  }

  Grammar& grammar_;
  std::vector<bool> good_;
};

}  // namespace

TerminalId Grammar::add_terminal(Terminal terminal) {
  terminals.push_back(std::move(terminal));
  return static_cast<TerminalId>(terminals.size() - 1);
}

TerminalId Grammar::add_bytes(DfaPointer dfa) {
  Terminal terminal;
  terminal.dfa = std::move(dfa);
  return add_terminal(std::move(terminal));
}

NodeId Grammar::add_node(Node::Kind kind, std::uint32_t form) {
  nodes.emplace_back();
  nodes.back().kind = kind;
  nodes.back().form = form;
  return static_cast<NodeId>(nodes.size() - 1);
}

RuleId Grammar::add_rule(std::string name) {
  rules.emplace_back();
  rules.back().name = std::move(name);
  rules.back().start = add_node();
  return static_cast<RuleId>(rules.size() - 1);
}

void Grammar::add_object(ObjectForm form, NodeId start) {
  const auto index = static_cast<std::uint32_t>(objects.size());
  form.first = add_node(Node::Kind::object_first, index);
  form.after_key = add_node(Node::Kind::object_colon, index);
  form.value = add_node(Node::Kind::object_value, index);
  form.after = add_node(Node::Kind::object_after, index);
  form.next_key = add_node(Node::Kind::object_key, index);
  form.end = add_node();
  nodes[form.end].accepts = true;
  nodes[start].edges.push_back({Edge::Kind::terminal, form.open, form.first});
  terminals[form.key].object = index;
  objects.push_back(std::move(form));
}

void Grammar::add_array(ArrayForm form, NodeId start) {
  const auto index = static_cast<std::uint32_t>(arrays.size());
  form.first = add_node(Node::Kind::array_first, index);
  form.after = add_node(Node::Kind::array_after, index);
  form.item = add_node(Node::Kind::array_item, index);
  form.end = add_node();
  nodes[form.end].accepts = true;
  nodes[start].edges.push_back({Edge::Kind::terminal, form.open, form.first});
  arrays.push_back(std::move(form));
}

void Grammar::add_repetition(RuleId rule, std::uint32_t least, std::uint32_t most, NodeId start, NodeId end) {
  const auto index = static_cast<std::uint32_t>(repetitions.size());
  repetitions.push_back({rule, least, most, false, end});
  nodes[start].kind = Node::Kind::repetition;
  nodes[start].form = index;
}

void Grammar::finish(const std::string& nothing_matches) {
  Finisher(*this).run(nothing_matches);
}

}  // namespace glmhost::constraints
