#include "inference/tokenizer/marker_trie.h"

#include <algorithm>

namespace glmhost::tokenizer {

MarkerTrie::MarkerTrie(std::vector<Marker> markers) {
  std::stable_sort(markers.begin(), markers.end(), [](const Marker& a, const Marker& b) { return a.text < b.text; });

  // Each node owns the range of markers that share its prefix. Breadth first, so that children are neighbours, and
  // without recursion, so that a marker of any length is no danger to the stack.
  struct Range {
    std::size_t first;
    std::size_t last;
    std::size_t depth;
  };
  std::vector<Range> ranges = {{0, markers.size(), 0}};
  nodes_.emplace_back();
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    Range range = ranges[node];
    for (bool is_first = true; range.first < range.last && markers[range.first].text.size() == range.depth;
         ++range.first, is_first = false) {
      if (!is_first) continue;
      nodes_[node].id = markers[range.first].id;
      nodes_[node].taken_from = markers[range.first].taken_from;
    }
    nodes_[node].first_child = static_cast<std::uint32_t>(nodes_.size());
    while (range.first < range.last) {
      const char label = markers[range.first].text[range.depth];
      std::size_t end = range.first;
      while (end < range.last && markers[end].text[range.depth] == label) ++end;
      nodes_.push_back({.label = static_cast<std::uint8_t>(label)});
      ++nodes_[node].child_count;
      ranges.push_back({range.first, end, range.depth + 1});
      range.first = end;
    }
  }

  root_children_.fill(kNoNode);
  for (std::uint32_t i = 0; i < nodes_[0].child_count; ++i) {
    root_children_[nodes_[1 + i].label] = 1 + i;
  }
}

std::uint32_t MarkerTrie::child(std::uint32_t node, unsigned char label) const {
  const auto first = nodes_.begin() + nodes_[node].first_child;
  const auto last = first + nodes_[node].child_count;
  const auto found =
      std::lower_bound(first, last, label, [](const Node& n, unsigned char wanted) { return n.label < wanted; });
  return found != last && found->label == label ? static_cast<std::uint32_t>(found - nodes_.begin()) : kNoNode;
}

std::optional<MarkerMatch> MarkerTrie::find(std::string_view text, std::size_t position, Markers mode) const {
  if (nodes_.size() == 1) return std::nullopt;
  for (; position < text.size(); ++position) {
    std::uint32_t node = root_children_[static_cast<unsigned char>(text[position])];
    std::optional<MarkerMatch> longest;
    for (std::size_t end = position + 1; node != kNoNode; ++end) {
      const Node& reached = nodes_[node];
      if (reached.id >= 0 && reached.taken_from <= mode) longest = {position, end - position, reached.id};
      node = end < text.size() ? child(node, static_cast<unsigned char>(text[end])) : kNoNode;
    }
    if (longest) return longest;
  }
  return std::nullopt;
}

std::optional<TokenId> MarkerTrie::exact(std::string_view text) const {
  if (text.empty()) return std::nullopt;
  std::uint32_t node = root_children_[static_cast<unsigned char>(text[0])];
  for (std::size_t i = 1; i < text.size() && node != kNoNode; ++i) {
    node = child(node, static_cast<unsigned char>(text[i]));
  }
  if (node == kNoNode || nodes_[node].id < 0) return std::nullopt;
  return nodes_[node].id;
}

}  // namespace glmhost::tokenizer
