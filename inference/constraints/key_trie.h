// The names of an object's known properties, as a tree of bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace glmhost::constraints {

// Names are given sorted and distinct; the label of a name is its place among them, so that the names below a node
// are a range of labels. Immutable after construction.
class KeyTrie {
 public:
  using Node = std::uint32_t;
  static constexpr Node kNone = 0xFFFFFFFF;
  static constexpr Node kRoot = 0;

  explicit KeyTrie(const std::vector<std::string>& sorted_names);

  Node step(Node node, std::uint8_t byte) const;
  // The node's own label, or kNone.
  std::uint32_t label(Node node) const { return nodes_[node].label; }
  // Labels of all names that begin with the node's bytes: first..last-1.
  std::uint32_t first_label(Node node) const { return nodes_[node].first; }
  std::uint32_t last_label(Node node) const { return nodes_[node].last; }

  struct Child {
    std::uint8_t byte;
    Node node;
  };
  const Child* children_begin(Node node) const { return children_.data() + nodes_[node].children; }
  const Child* children_end(Node node) const { return children_.data() + nodes_[node].children_end; }

 private:
  struct Entry {
    std::uint32_t label = kNone;
    std::uint32_t first = 0, last = 0;
    std::uint32_t children = 0, children_end = 0;
  };
  std::vector<Entry> nodes_;
  std::vector<Child> children_;
};

}  // namespace glmhost::constraints
