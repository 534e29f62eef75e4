// Deterministic finite automata over bytes: what every terminal of a grammar is made of.
//
// Every automaton is trimmed: from each of its states some accepting state can be reached. A byte string that leads to
// a state is therefore the beginning of a member, and an automaton without states has no member at all.
//
// Thread rules: immutable after construction.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace glmhost::constraints {

using DfaState = std::uint32_t;

inline constexpr DfaState kDead = 0xFFFFFFFF;
inline constexpr std::uint32_t kNoLabel = 0xFFFFFFFF;  // the state does not accept

struct ByteEdge {
  std::uint8_t low = 0;
  std::uint8_t high = 0;
  DfaState target = kDead;
};

class Dfa {
 public:
  // States are rows of edges that do not overlap, in ascending order; labels[i] is what state i accepts as, or
  // kNoLabel. Trims; the caller's state numbers are not kept.
  Dfa(const std::vector<std::vector<ByteEdge>>& states, const std::vector<std::uint32_t>& labels, DfaState start);

  bool empty() const { return labels_.empty(); }
  std::size_t size() const { return labels_.size(); }
  DfaState start() const { return empty() ? kDead : 0; }

  DfaState step(DfaState state, std::uint8_t byte) const {
    if (!table_.empty()) return table_[state * classes_ + class_of_[byte]];
    return sparse_step(state, byte);
  }
  // The state after all of BYTES, or kDead.
  DfaState run(DfaState state, std::string_view bytes) const;

  std::uint32_t label(DfaState state) const { return labels_[state]; }
  bool accepts(DfaState state) const { return labels_[state] != kNoLabel; }
  bool matches(std::string_view bytes) const;

  // The edges of a state, ascending and not overlapping.
  std::vector<ByteEdge> edges(DfaState state) const;
  bool has_edges(DfaState state) const { return offsets_[state] != offsets_[state + 1]; }

 private:
  DfaState sparse_step(DfaState state, std::uint8_t byte) const;
  void make_table();

  std::vector<std::uint32_t> labels_;
  std::vector<std::uint32_t> offsets_ = {0};  // of a state's edges in edges_
  std::vector<ByteEdge> edges_;
  // Small automata also have a table of states x classes of bytes.
  std::array<std::uint8_t, 256> class_of_{};
  std::uint32_t classes_ = 0;
  std::vector<DfaState> table_;
};

using DfaPointer = std::shared_ptr<const Dfa>;

// Makes an automaton from a start state and a rule for its edges; State is any type with operator<.
// expand(state, edges): appends {low, high, next state}, ascending and not overlapping, and returns the label.
// Throws Error(bad_argument) with TOO_LARGE when there are more than `most` states.
template <typename State>
struct ImplicitEdge {
  std::uint8_t low;
  std::uint8_t high;
  State target;
};

template <typename State, typename Expand>
DfaPointer explore(const State& start, Expand&& expand, std::size_t most, const std::string& too_large);

// Members of both. Label: that of LEFT.
DfaPointer intersection(const Dfa& left, const Dfa& right);
// Members of LEFT that RIGHT has not.
DfaPointer difference(const Dfa& left, const Dfa& right);
// label(l, r): of the labels, kNoLabel for one that does not accept, what the pair accepts as.
DfaPointer combine(const Dfa& left, const Dfa& right,
                   const std::function<std::uint32_t(std::uint32_t left, std::uint32_t right)>& label);

// Exactly TEXTS; the label of a text is LABELS[i] (0 without labels). Equal ends are shared, so that ten thousand
// strings need little more than their distinct beginnings. Duplicates are allowed; the first one's label counts.
DfaPointer literals(std::vector<std::string> texts, const std::vector<std::uint32_t>& labels = {});

// All valid UTF-8.
const Dfa& any_text();

// Length in characters (lead bytes) of the shortest and the longest member; no longest: unbounded.
struct Lengths {
  std::uint64_t shortest = 0;
  std::optional<std::uint64_t> longest;
};
Lengths character_lengths(const Dfa& dfa);

}  // namespace glmhost::constraints

#include "inference/constraints/explore.h"
