#include "vscode-bridge/server/completion/radix_cache.h"

#include <algorithm>
#include <utility>

namespace glmhost::completion {

RadixCache::Node& RadixCache::insert(std::string_view key) {
  Node* node = root_.get();
  while (!key.empty()) {
    std::unique_ptr<Node>& child = node->children[key.front()];
    if (!child) {
      child = std::make_unique<Node>();
      child->edge = key;
      return *child;
    }
    const auto differ = std::mismatch(child->edge.begin(), child->edge.end(), key.begin(), key.end());
    const auto common = static_cast<std::size_t>(differ.first - child->edge.begin());
    if (common < child->edge.size()) {
      auto upper = std::make_unique<Node>();
      upper->edge = child->edge.substr(0, common);
      child->edge.erase(0, common);
      const char first = child->edge.front();
      upper->children[first] = std::move(child);
      child = std::move(upper);
    }
    node = child.get();
    key.remove_prefix(common);
  }
  return *node;
}

void RadixCache::put(std::string_view key, Finished value) {
  Node& node = insert(key);
  if (node.has_entry) entries_.erase(node.entry);
  entries_.push_front({std::string(key), std::move(value)});
  node.entry = entries_.begin();
  node.has_entry = true;
  if (entries_.size() <= most_) return;
  const std::string oldest = entries_.back().key;
  erase(oldest);
}

std::vector<RadixCache::Found> RadixCache::find(std::string_view text) {
  std::vector<Found> found;
  std::size_t length = 0;
  for (Node* node = root_.get(); node != nullptr;) {
    if (node->has_entry) {
      entries_.splice(entries_.begin(), entries_, node->entry);
      found.push_back({length, node->entry->value});
    }
    if (length == text.size()) break;
    const auto child = node->children.find(text[length]);
    if (child == node->children.end() || !text.substr(length).starts_with(child->second->edge)) break;
    node = child->second.get();
    length += node->edge.size();
  }
  std::reverse(found.begin(), found.end());
  return found;
}

void RadixCache::join_only_child(Node& node) {
  if (node.has_entry || node.children.size() != 1) return;
  const std::unique_ptr<Node> child = std::move(node.children.begin()->second);
  node.edge += child->edge;
  node.has_entry = child->has_entry;
  node.entry = child->entry;
  node.children = std::move(child->children);
}

void RadixCache::erase(std::string_view key) {
  std::vector<Node*> path = {root_.get()};
  while (!key.empty()) {
    Node* node = path.back()->children.at(key.front()).get();
    key.remove_prefix(node->edge.size());
    path.push_back(node);
  }
  entries_.erase(path.back()->entry);
  path.back()->has_entry = false;
  for (; path.size() > 1; path.pop_back()) {
    Node& node = *path.back();
    if (node.has_entry || !node.children.empty()) {
      join_only_child(node);
      break;
    }
    const char first = node.edge.front();
    path[path.size() - 2]->children.erase(first);
  }
}

}  // namespace glmhost::completion
