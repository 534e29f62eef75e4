#include "inference/constraints/key_trie.h"

namespace glmhost::constraints {

KeyTrie::KeyTrie(const std::vector<std::string>& sorted_names) {
  // Breadth first: the children of a node lie side by side.
  std::vector<std::size_t> depths = {0};
  nodes_.push_back({kNone, 0, static_cast<std::uint32_t>(sorted_names.size()), 0, 0});
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const std::size_t depth = depths[i];
    std::uint32_t name = nodes_[i].first;
    const std::uint32_t last = nodes_[i].last;
    if (name < last && sorted_names[name].size() == depth) nodes_[i].label = name++;
    nodes_[i].children = static_cast<std::uint32_t>(children_.size());
    while (name < last) {
      const char byte = sorted_names[name][depth];
      const std::uint32_t first = name;
      while (name < last && sorted_names[name][depth] == byte) ++name;
      children_.push_back({static_cast<std::uint8_t>(byte), static_cast<Node>(nodes_.size())});
      nodes_.push_back({kNone, first, name, 0, 0});
      depths.push_back(depth + 1);
    }
    nodes_[i].children_end = static_cast<std::uint32_t>(children_.size());
  }
}

KeyTrie::Node KeyTrie::step(Node node, std::uint8_t byte) const {
  for (const Child* child = children_begin(node); child != children_end(node); ++child) {
    if (child->byte == byte) return child->node;
  }
  return kNone;
}

}  // namespace glmhost::constraints
