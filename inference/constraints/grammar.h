// The one form that schemas, regular expressions, choices and grammars are compiled to.
//
// A rule is a small graph of nodes. An edge consumes a terminal or calls a rule; a node may accept (end its rule).
// Terminals are automata over bytes, JSON strings with an automaton for what they mean, and the keys of JSON objects.
// Three kinds of rules have a memory beside the node they are at, so that what would need exponentially many nodes
// needs a handful: objects (which properties have come), arrays and repetitions (how many items have come).
//
// finish() must be called once at the end: it refuses left recursion, and removes what can never be completed, so
// that a recogniser never walks into a dead end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inference/constraints/dfa.h"
#include "inference/constraints/key_trie.h"

namespace glmhost::constraints {

using NodeId = std::uint32_t;
using RuleId = std::uint32_t;
using TerminalId = std::uint32_t;
inline constexpr std::uint32_t kNone = 0xFFFFFFFF;

struct Terminal {
  enum class Kind : std::uint8_t { bytes, string, key };
  Kind kind = Kind::bytes;
  // bytes: the automaton. string: of the string's meaning, in UTF-8. key: of the names that are no known property;
  // none when there are no such names.
  DfaPointer dfa;
  bool free_text = false;  // string, key: dfa is any_text()
  // string, key without free_text: each character is written in one way (see json_text.h).
  bool one_spelling = false;
  // string, only with free_text: how many characters.
  std::uint32_t least = 0;
  std::uint32_t most = kNone;
  std::uint32_t object = kNone;  // key
};

struct Edge {
  enum class Kind : std::uint8_t { terminal, call };
  Kind kind;
  std::uint32_t what;  // TerminalId or RuleId
  NodeId target;
};

struct Node {
  enum class Kind : std::uint8_t {
    plain,
    object_first,  // after {
    object_colon,  // after a key
    object_value,  // after :
    object_after,  // after a value
    object_key,    // after ,
    array_first,   // after [
    array_after,   // after an item
    array_item,    // after ,
    repetition,
  };
  Kind kind = Kind::plain;
  std::uint32_t form = kNone;  // index into objects, arrays or repetitions
  bool accepts = false;        // plain
  std::vector<Edge> edges;     // plain
};

struct ObjectForm {
  enum class Order { any, declared };
  struct Property {
    RuleId rule = kNone;  // kNone: forbidden
    bool required = false;
    std::uint32_t position = 0;             // among the declared ones
    std::vector<std::uint32_t> dependents;  // labels that this one's presence requires
  };
  std::vector<Property> properties;  // by label
  std::shared_ptr<const KeyTrie> names;
  std::vector<RuleId> others;  // by the label of the key terminal's automaton; kNone: forbidden
  std::uint32_t least = 0;
  std::uint32_t most = kNone;
  Order order = Order::any;
  TerminalId key = kNone;
  // close_empty: where nothing has come since `open`, which takes the white space.
  TerminalId open = kNone, close_empty = kNone, close = kNone, colon = kNone, comma = kNone;
  NodeId first = kNone, after_key = kNone, value = kNone, after = kNone, next_key = kNone, end = kNone;
};

struct ArrayForm {
  struct Choice {
    RuleId rule;
    std::uint32_t hits;  // not 0: counts for `contains`
  };
  struct Contains {
    std::uint32_t least;
    std::uint32_t most;
  };
  std::vector<std::vector<Choice>> slots;  // the last one is for every item from there on; none: no items
  std::vector<Contains> contains;          // at most one
  std::uint32_t least = 0;
  std::uint32_t most = kNone;
  // Set by finish(), with contains: whether the array can be completed after so many items (those from `bound` on are
  // alike) and hits: feasible[items * (most_hits + 1) + hits].
  std::vector<bool> feasible;
  std::uint32_t bound = 0;
  std::uint32_t most_hits = 0;
  TerminalId open = kNone, close_empty = kNone, close = kNone, comma = kNone;
  NodeId first = kNone, after = kNone, item = kNone, end = kNone;
};

struct RepetitionForm {
  RuleId rule;
  std::uint32_t least;
  std::uint32_t most;
  bool nullable;  // the rule matches the empty text (set by finish)
  NodeId end;
};

struct Rule {
  NodeId start = kNone;
  std::string name;
  // Set by finish():
  bool nullable = false;
  bool productive = false;
  std::uint32_t rank = 0;  // a rule calls, before any byte, only rules of a higher rank
};

struct Grammar {
  std::vector<Terminal> terminals;
  std::vector<Node> nodes;
  std::vector<Rule> rules;
  std::vector<ObjectForm> objects;
  std::vector<ArrayForm> arrays;
  std::vector<RepetitionForm> repetitions;
  RuleId root = 0;

  TerminalId add_terminal(Terminal terminal);
  TerminalId add_bytes(DfaPointer dfa);
  NodeId add_node(Node::Kind kind = Node::Kind::plain, std::uint32_t form = kNone);
  RuleId add_rule(std::string name);

  // Nodes and edges of a form whose fields other than node ids are set; the graph begins at START.
  void add_object(ObjectForm form, NodeId start);
  void add_array(ArrayForm form, NodeId start);
  // At most times RULE; the graph begins at START and ends at END.
  void add_repetition(RuleId rule, std::uint32_t least, std::uint32_t most, NodeId start, NodeId end);

  // Throws Error(bad_argument): left recursion (names the rules), or NOTHING_MATCHES when the root has no text.
  void finish(const std::string& nothing_matches);
};

}  // namespace glmhost::constraints
