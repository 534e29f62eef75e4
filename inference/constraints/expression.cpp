#include "inference/constraints/expression.h"

#include <algorithm>
#include <unordered_map>

#include "inference/error.h"

namespace glmhost::constraints {
namespace {

constexpr std::size_t kMostNfaNodes = 1'000'000;
constexpr std::size_t kMostStates = 100'000;
constexpr std::size_t kMostWork = 20'000'000;  // NFA nodes visited while the automaton is made

using NodeId = std::uint32_t;

enum class Condition : std::uint8_t { none, at_begin, at_end };

// Thompson's construction: a node has byte edges or edges that consume nothing.
struct Node {
  std::vector<ByteEdge> bytes;
  std::vector<std::pair<NodeId, Condition>> free;
};

[[noreturn]] void too_large(const std::string& what) {
  throw Error(ErrorKind::bad_argument,
              what + " is too large: its automaton explodes. Use smaller repetition counts or fewer nested ones.");
}

class NfaBuilder {
 public:
  explicit NfaBuilder(const std::string& what) : what_(what) {}

  NodeId add() {
    if (nodes_.size() >= kMostNfaNodes) too_large(what_);
    nodes_.emplace_back();
    return static_cast<NodeId>(nodes_.size() - 1);
  }

  void link(NodeId from, NodeId to, Condition condition = Condition::none) {
    nodes_[from].free.emplace_back(to, condition);
  }

  // Everything that EXPRESSION matches leads from FROM to the node returned.
  NodeId append(const Expression& expression, NodeId from) {
    using Kind = Expression::Kind;
    if (++appended_ > kMostNfaNodes) too_large(what_);  // parts that need no node, repeated a billion times
    switch (expression.kind) {
      case Kind::characters:
        return append_characters(expression.characters, from);
      case Kind::text:
        for (const char c : expression.text) {
          const NodeId to = add();
          nodes_[from].bytes.push_back({static_cast<std::uint8_t>(c), static_cast<std::uint8_t>(c), to});
          from = to;
        }
        return from;
      case Kind::sequence:
        for (const Expression& part : expression.parts) from = append(part, from);
        return from;
      case Kind::alternation: {
        const NodeId end = add();
        for (const Expression& part : expression.parts) {
          const NodeId begin = add();
          link(from, begin);
          link(append(part, begin), end);
        }
        return end;
      }
      case Kind::repetition:
        return append_repetition(expression, from);
      case Kind::text_begin:
      case Kind::text_end: {
        const NodeId to = add();
        link(from, to, expression.kind == Kind::text_begin ? Condition::at_begin : Condition::at_end);
        return to;
      }
      case Kind::rule:
      case Kind::schema:
      case Kind::raw_schema:
        break;
    }
    return from;
  }

  const std::vector<Node>& nodes() const { return nodes_; }

 private:
  NodeId append_characters(const CodePointSet& set, NodeId from) {
    // A node of its own: FROM may get further edges, and equal tails of different characters are shared.
    const NodeId begin = add();
    link(from, begin);
    const NodeId end = add();
    std::unordered_map<std::uint64_t, NodeId> tails;  // by the byte intervals still to come
    for (const CodePointRange& range : set.ranges()) {
      for (const Utf8Run& run : utf8_runs(range.first, range.last)) append_run(run, begin, end, tails);
    }
    return end;
  }

  void append_run(const Utf8Run& run, NodeId begin, NodeId end, std::unordered_map<std::uint64_t, NodeId>& tails) {
    NodeId target = end;
    std::uint64_t key = 0;
    for (int i = run.length - 1; i > 0; --i) {
      key = key << 16 | static_cast<std::uint64_t>(run.low[i]) << 8 | run.high[i];
      const auto [place, fresh] = tails.try_emplace(key, 0);
      if (fresh) {
        place->second = add();
        nodes_[place->second].bytes.push_back({run.low[i], run.high[i], target});
      }
      target = place->second;
    }
    nodes_[begin].bytes.push_back({run.low[0], run.high[0], target});
  }

  NodeId append_repetition(const Expression& expression, NodeId from) {
    const Expression& part = expression.parts[0];
    for (std::uint32_t i = 0; i < expression.least; ++i) from = append(part, from);
    if (expression.most == kUnbounded) {
      const NodeId loop = add();
      link(from, loop);
      link(append(part, loop), loop);
      const NodeId end = add();
      link(loop, end);
      return end;
    }
    const NodeId end = add();
    for (std::uint32_t i = expression.least; i < expression.most; ++i) {
      link(from, end);
      const NodeId begin = add();
      link(from, begin);
      from = append(part, begin);
    }
    link(from, end);
    return end;
  }

  const std::string& what_;
  std::vector<Node> nodes_;
  std::size_t appended_ = 0;
};

struct SetHash {
  std::size_t operator()(const std::vector<NodeId>& set) const {
    std::uint64_t hash = set.size();
    for (const NodeId node : set) hash = (hash ^ node) * 0x9E3779B97F4A7C15ull + (hash >> 29);
    return hash;
  }
};

// The subset construction.
class Determiniser {
 public:
  Determiniser(const std::vector<Node>& nodes, NodeId accept, const std::string& what)
      : nodes_(nodes), accept_(accept), what_(what), mark_(nodes.size(), 0) {}

  DfaPointer run(NodeId start) {
    std::vector<NodeId> first = {start};
    close(first, true, false);
    id_of(std::move(first));
    for (std::size_t i = 0; i < sets_.size(); ++i) expand(*sets_[i]);
    return std::make_shared<const Dfa>(states_, labels_, 0);
  }

 private:
  // All nodes that can be reached without a byte.
  void close(std::vector<NodeId>& set, bool at_begin, bool at_end) {
    ++round_;
    for (const NodeId node : set) mark_[node] = round_;
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (++work_ > kMostWork) too_large(what_);
      for (const auto& [to, condition] : nodes_[set[i]].free) {
        if (condition == Condition::at_begin && !at_begin) continue;
        if (condition == Condition::at_end && !at_end) continue;
        if (mark_[to] == round_) continue;
        mark_[to] = round_;
        set.push_back(to);
      }
    }
  }

  bool accepting(const std::vector<NodeId>& set, bool at_begin) {
    std::vector<NodeId> all = set;
    close(all, at_begin, true);
    return std::ranges::find(all, accept_) != all.end();
  }

  DfaState id_of(std::vector<NodeId> set) {
    const bool at_begin = sets_.empty();
    const bool accepts = accepting(set, at_begin);
    // Only nodes with byte edges still matter: whether the text may end here is known.
    std::erase_if(set, [&](NodeId node) { return nodes_[node].bytes.empty(); });
    std::ranges::sort(set);
    // The first set alone is at the text's begin: it is never the same as a later one.
    set.push_back(accepts ? 1 : 0);
    set.push_back(at_begin ? 1 : 0);
    const auto [place, fresh] = ids_.try_emplace(std::move(set), static_cast<DfaState>(ids_.size()));
    if (fresh) {
      if (ids_.size() > kMostStates) too_large(what_);
      sets_.push_back(&place->first);
      labels_.push_back(accepts ? 0 : kNoLabel);
    }
    return place->second;
  }

  void expand(const std::vector<NodeId>& set) {
    edges_.clear();
    for (std::size_t i = 0; i + 2 < set.size(); ++i) {
      const auto& bytes = nodes_[set[i]].bytes;
      edges_.insert(edges_.end(), bytes.begin(), bytes.end());
    }
    cuts_.clear();
    for (const ByteEdge& edge : edges_) {
      cuts_.push_back(edge.low);
      cuts_.push_back(edge.high + 1);
    }
    std::ranges::sort(cuts_);
    cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
    std::ranges::sort(edges_, {}, &ByteEdge::low);
    std::vector<std::vector<NodeId>> targets(cuts_.size());
    for (const ByteEdge& edge : edges_) {
      const auto first = std::ranges::lower_bound(cuts_, static_cast<int>(edge.low)) - cuts_.begin();
      for (auto i = static_cast<std::size_t>(first); cuts_[i] <= edge.high; ++i) {
        if (++work_ > kMostWork) too_large(what_);
        targets[i].push_back(edge.target);
      }
    }
    std::vector<ByteEdge> row;
    for (std::size_t i = 0; i + 1 < cuts_.size(); ++i) {
      if (targets[i].empty()) continue;
      std::ranges::sort(targets[i]);
      targets[i].erase(std::unique(targets[i].begin(), targets[i].end()), targets[i].end());
      close(targets[i], false, false);
      row.push_back({static_cast<std::uint8_t>(cuts_[i]), static_cast<std::uint8_t>(cuts_[i + 1] - 1),
                     id_of(std::move(targets[i]))});
    }
    states_.push_back(std::move(row));
  }

  const std::vector<Node>& nodes_;
  NodeId accept_;
  const std::string& what_;
  std::vector<std::uint32_t> mark_;
  std::uint32_t round_ = 0;
  std::size_t work_ = 0;
  std::unordered_map<std::vector<NodeId>, DfaState, SetHash> ids_;
  std::vector<const std::vector<NodeId>*> sets_;
  std::vector<std::vector<ByteEdge>> states_;
  std::vector<std::uint32_t> labels_;
  std::vector<ByteEdge> edges_;
  std::vector<int> cuts_;
};

}  // namespace

Expression Expression::of_kind(Kind kind) {
  Expression expression;
  expression.kind = kind;
  return expression;
}

Expression Expression::of_characters(CodePointSet set) {
  Expression expression;
  expression.kind = Kind::characters;
  expression.characters = std::move(set);
  return expression;
}

Expression Expression::of_text(std::string_view text) {
  Expression expression;
  expression.kind = Kind::text;
  expression.text = text;
  return expression;
}

Expression Expression::sequence(std::vector<Expression> parts) {
  Expression expression;
  expression.kind = Kind::sequence;
  expression.parts = std::move(parts);
  return expression;
}

Expression Expression::alternation(std::vector<Expression> parts) {
  Expression expression;
  expression.kind = Kind::alternation;
  expression.parts = std::move(parts);
  return expression;
}

Expression Expression::repetition(Expression part, std::uint32_t least, std::uint32_t most) {
  Expression expression;
  expression.kind = Kind::repetition;
  expression.parts.push_back(std::move(part));
  expression.least = least;
  expression.most = most;
  return expression;
}

DfaPointer to_dfa(const Expression& expression, Match match, const std::string& what) {
  NfaBuilder builder(what);
  const NodeId start = builder.add();
  NodeId end = start;
  const Expression any =
      Expression::repetition(Expression::of_characters(CodePointSet({{0, kLastCodePoint}})), 0, kUnbounded);
  if (match == Match::anywhere) end = builder.append(any, end);
  end = builder.append(expression, end);
  if (match == Match::anywhere) end = builder.append(any, end);
  return Determiniser(builder.nodes(), end, what).run(start);
}

}  // namespace glmhost::constraints
