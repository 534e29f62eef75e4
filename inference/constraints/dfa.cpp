#include "inference/constraints/dfa.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "inference/tokenizer/utf8.h"

namespace glmhost::constraints {
namespace {

constexpr std::size_t kMostTableEntries = 1u << 20;
constexpr std::size_t kMostProductStates = 200'000;

// States from which an accepting one can be reached.
std::vector<bool> live_states(const std::vector<std::vector<ByteEdge>>& states,
                              const std::vector<std::uint32_t>& labels) {
  std::vector<std::uint32_t> counts(states.size() + 1, 0);
  for (const auto& row : states) {
    for (const ByteEdge& edge : row) ++counts[edge.target + 1];
  }
  std::partial_sum(counts.begin(), counts.end(), counts.begin());
  std::vector<DfaState> sources(counts.back());
  std::vector<std::uint32_t> fill(counts.begin(), counts.end() - 1);
  for (DfaState from = 0; from < states.size(); ++from) {
    for (const ByteEdge& edge : states[from]) sources[fill[edge.target]++] = from;
  }
  std::vector<bool> live(states.size(), false);
  std::vector<DfaState> work;
  for (DfaState i = 0; i < states.size(); ++i) {
    if (labels[i] == kNoLabel) continue;
    live[i] = true;
    work.push_back(i);
  }
  while (!work.empty()) {
    const DfaState state = work.back();
    work.pop_back();
    for (std::uint32_t i = counts[state]; i < counts[state + 1]; ++i) {
      if (live[sources[i]]) continue;
      live[sources[i]] = true;
      work.push_back(sources[i]);
    }
  }
  return live;
}

}  // namespace

Dfa::Dfa(const std::vector<std::vector<ByteEdge>>& states, const std::vector<std::uint32_t>& labels, DfaState start) {
  const std::vector<bool> live = live_states(states, labels);
  if (states.empty() || !live[start]) return;
  // Only states that can be reached, in the order in which they are met.
  std::vector<DfaState> number(states.size(), kDead);
  std::vector<DfaState> order = {start};
  number[start] = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const ByteEdge& edge : states[order[i]]) {
      if (!live[edge.target] || number[edge.target] != kDead) continue;
      number[edge.target] = static_cast<DfaState>(order.size());
      order.push_back(edge.target);
    }
  }
  labels_.reserve(order.size());
  for (const DfaState state : order) {
    labels_.push_back(labels[state]);
    for (const ByteEdge& edge : states[state]) {
      if (!live[edge.target]) continue;
      const ByteEdge renumbered = {edge.low, edge.high, number[edge.target]};
      if (edges_.size() > offsets_.back() && edges_.back().target == renumbered.target &&
          edges_.back().high + 1 == renumbered.low) {
        edges_.back().high = renumbered.high;
      } else {
        edges_.push_back(renumbered);
      }
    }
    offsets_.push_back(static_cast<std::uint32_t>(edges_.size()));
  }
  make_table();
}

void Dfa::make_table() {
  std::array<bool, 257> cut{};
  for (const ByteEdge& edge : edges_) {
    cut[edge.low] = true;
    cut[edge.high + 1] = true;
  }
  std::uint8_t current = 0;
  for (std::size_t byte = 1; byte < 256; ++byte) {
    if (cut[byte]) ++current;
    class_of_[byte] = current;
  }
  classes_ = static_cast<std::uint32_t>(current) + 1;
  if (labels_.size() * classes_ > kMostTableEntries) return;
  table_.assign(labels_.size() * classes_, kDead);
  for (DfaState state = 0; state < labels_.size(); ++state) {
    for (std::uint32_t i = offsets_[state]; i < offsets_[state + 1]; ++i) {
      for (std::uint32_t c = class_of_[edges_[i].low]; c <= class_of_[edges_[i].high]; ++c) {
        table_[state * classes_ + c] = edges_[i].target;
      }
    }
  }
}

DfaState Dfa::sparse_step(DfaState state, std::uint8_t byte) const {
  const auto first = edges_.begin() + offsets_[state];
  const auto last = edges_.begin() + offsets_[state + 1];
  const auto edge = std::lower_bound(first, last, byte, [](const ByteEdge& e, std::uint8_t b) { return e.high < b; });
  return edge != last && edge->low <= byte ? edge->target : kDead;
}

DfaState Dfa::run(DfaState state, std::string_view bytes) const {
  for (const char c : bytes) {
    if (state == kDead) return kDead;
    state = step(state, static_cast<std::uint8_t>(c));
  }
  return state;
}

bool Dfa::matches(std::string_view bytes) const {
  const DfaState end = run(start(), bytes);
  return end != kDead && accepts(end);
}

std::vector<ByteEdge> Dfa::edges(DfaState state) const {
  return {edges_.begin() + offsets_[state], edges_.begin() + offsets_[state + 1]};
}

DfaPointer combine(const Dfa& left, const Dfa& right,
                   const std::function<std::uint32_t(std::uint32_t, std::uint32_t)>& label) {
  using Pair = std::pair<DfaState, DfaState>;
  const auto label_of = [](const Dfa& dfa, DfaState state) { return state == kDead ? kNoLabel : dfa.label(state); };
  const auto expand = [&](const Pair& pair, std::vector<ImplicitEdge<Pair>>& edges) {
    const auto rows_of = [](const Dfa& dfa, DfaState state) {
      return state == kDead ? std::vector<ByteEdge>() : dfa.edges(state);
    };
    const std::vector<ByteEdge> rows[2] = {rows_of(left, pair.first), rows_of(right, pair.second)};
    std::vector<int> cuts;
    for (const auto& row : rows) {
      for (const ByteEdge& edge : row) {
        cuts.push_back(edge.low);
        cuts.push_back(edge.high + 1);
      }
    }
    std::ranges::sort(cuts);
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    std::size_t next[2] = {0, 0};
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      DfaState targets[2] = {kDead, kDead};
      for (int side = 0; side < 2; ++side) {
        while (next[side] < rows[side].size() && rows[side][next[side]].high < cuts[i]) ++next[side];
        if (next[side] < rows[side].size() && rows[side][next[side]].low <= cuts[i]) {
          targets[side] = rows[side][next[side]].target;
        }
      }
      if (targets[0] == kDead && targets[1] == kDead) continue;
      edges.push_back(
          {static_cast<std::uint8_t>(cuts[i]), static_cast<std::uint8_t>(cuts[i + 1] - 1), {targets[0], targets[1]}});
    }
    return label(label_of(left, pair.first), label_of(right, pair.second));
  };
  return explore(Pair{left.start(), right.start()}, expand, kMostProductStates,
                 "The patterns that must hold together need more than " + std::to_string(kMostProductStates) +
                     " states: make them simpler.");
}

DfaPointer intersection(const Dfa& left, const Dfa& right) {
  return combine(left, right,
                 [](std::uint32_t l, std::uint32_t r) { return l != kNoLabel && r != kNoLabel ? l : kNoLabel; });
}

DfaPointer difference(const Dfa& left, const Dfa& right) {
  return combine(left, right, [](std::uint32_t l, std::uint32_t r) { return r == kNoLabel ? l : kNoLabel; });
}

namespace {

// Builds the automaton of sorted strings from the ends backwards, one state for all equal ends.
class LiteralBuilder {
 public:
  LiteralBuilder(const std::vector<std::string>& texts, const std::vector<std::uint32_t>& labels)
      : texts_(texts), labels_(labels) {}

  DfaPointer build() {
    // open_[d]: the state under construction after d bytes of the current text.
    open_.assign(1, {});
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      const std::string& text = texts_[i];
      if (i > 0) close_down_to(common_prefix(texts_[i - 1], text));
      for (std::size_t d = open_.size() - 1; d < text.size(); ++d) {
        path_.push_back(static_cast<std::uint8_t>(text[d]));
        open_.emplace_back();
      }
      if (open_.back().label == kNoLabel) open_.back().label = labels_[i];
    }
    close_down_to(0);
    const DfaState start = intern(std::move(open_[0]));
    return std::make_shared<const Dfa>(states_, accepted_, start);
  }

 private:
  struct Open {
    std::vector<ByteEdge> edges;
    std::uint32_t label = kNoLabel;
  };

  static std::size_t common_prefix(const std::string& a, const std::string& b) {
    return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  }

  void close_down_to(std::size_t depth) {
    while (open_.size() - 1 > depth) {
      const DfaState state = intern(std::move(open_.back()));
      open_.pop_back();
      open_.back().edges.push_back({path_.back(), path_.back(), state});
      path_.pop_back();
    }
  }

  DfaState intern(Open open) {
    std::string key(reinterpret_cast<const char*>(&open.label), sizeof open.label);
    for (const ByteEdge& edge : open.edges) {
      key += static_cast<char>(edge.low);
      key.append(reinterpret_cast<const char*>(&edge.target), sizeof edge.target);
    }
    const auto [place, fresh] = known_.try_emplace(std::move(key), static_cast<DfaState>(states_.size()));
    if (fresh) {
      states_.push_back(std::move(open.edges));
      accepted_.push_back(open.label);
    }
    return place->second;
  }

  const std::vector<std::string>& texts_;
  const std::vector<std::uint32_t>& labels_;
  std::vector<Open> open_;
  std::vector<std::uint8_t> path_;
  std::unordered_map<std::string, DfaState> known_;
  std::vector<std::vector<ByteEdge>> states_;
  std::vector<std::uint32_t> accepted_;
};

}  // namespace

DfaPointer literals(std::vector<std::string> texts, const std::vector<std::uint32_t>& labels) {
  std::vector<std::size_t> order(texts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return texts[a] < texts[b]; });
  std::vector<std::string> sorted;
  std::vector<std::uint32_t> sorted_labels;
  for (const std::size_t i : order) {
    sorted.push_back(std::move(texts[i]));
    sorted_labels.push_back(labels.empty() ? 0 : labels[i]);
  }
  return LiteralBuilder(sorted, sorted_labels).build();
}

const Dfa& any_text() {
  // 0: between characters; 1, 2, 3: so many continuation bytes to come; 4..7: after E0, ED, F0, F4, whose next byte is
  // restricted (Unicode, table 3-7).
  static const Dfa dfa({{{0x00, 0x7F, 0},
                         {0xC2, 0xDF, 1},
                         {0xE0, 0xE0, 4},
                         {0xE1, 0xEC, 2},
                         {0xED, 0xED, 5},
                         {0xEE, 0xEF, 2},
                         {0xF0, 0xF0, 6},
                         {0xF1, 0xF3, 3},
                         {0xF4, 0xF4, 7}},
                        {{0x80, 0xBF, 0}},
                        {{0x80, 0xBF, 1}},
                        {{0x80, 0xBF, 2}},
                        {{0xA0, 0xBF, 1}},
                        {{0x80, 0x9F, 1}},
                        {{0x90, 0xBF, 2}},
                        {{0x80, 0x8F, 2}}},
                       {0, kNoLabel, kNoLabel, kNoLabel, kNoLabel, kNoLabel, kNoLabel, kNoLabel}, 0);
  return dfa;
}

Lengths character_lengths(const Dfa& dfa) {
  // Weight 1 for an edge of lead bytes, 0 for continuation bytes (0x80..0xBF); no edge mixes the two in valid UTF-8.
  const auto weight = [](const ByteEdge& edge) { return edge.low >= 0x80 && edge.low < 0xC0 ? 0u : 1u; };
  Lengths lengths;
  if (dfa.empty()) return lengths;
  // Shortest: breadth first with weights 0 and 1.
  constexpr std::uint64_t kFar = ~0ull;
  std::vector<std::uint64_t> distance(dfa.size(), kFar);
  std::vector<DfaState> near = {dfa.start()}, far;
  distance[dfa.start()] = 0;
  lengths.shortest = kFar;
  for (std::uint64_t d = 0; !near.empty() && lengths.shortest == kFar; ++d) {
    for (std::size_t i = 0; i < near.size(); ++i) {
      const DfaState state = near[i];
      if (distance[state] != d) continue;
      if (dfa.accepts(state)) lengths.shortest = std::min(lengths.shortest, d);
      for (const ByteEdge& edge : dfa.edges(state)) {
        const std::uint64_t reached = d + weight(edge);
        if (reached >= distance[edge.target]) continue;
        distance[edge.target] = reached;
        (weight(edge) == 0 ? near : far).push_back(edge.target);
      }
    }
    near.swap(far);
    far.clear();
  }
  // Longest: in topological order; a cycle (all states are live) makes it unbounded.
  std::vector<std::uint32_t> entering(dfa.size(), 0);
  for (DfaState state = 0; state < dfa.size(); ++state) {
    for (const ByteEdge& edge : dfa.edges(state)) ++entering[edge.target];
  }
  if (entering[dfa.start()] != 0) return lengths;
  std::vector<std::uint64_t> longest(dfa.size(), 0);
  std::vector<DfaState> order = {dfa.start()};
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const DfaState state = order[i];
    if (dfa.accepts(state)) most = std::max(most, longest[state]);
    for (const ByteEdge& edge : dfa.edges(state)) {
      longest[edge.target] = std::max(longest[edge.target], longest[state] + weight(edge));
      if (--entering[edge.target] == 0) order.push_back(edge.target);
    }
  }
  if (order.size() == dfa.size()) lengths.longest = most;
  return lengths;
}

}  // namespace glmhost::constraints
