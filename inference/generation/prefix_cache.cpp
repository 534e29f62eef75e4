#include "inference/generation/prefix_cache.h"

#include <algorithm>

#include "inference/generation/random.h"

namespace glmhost::generation {

PrefixCache::~PrefixCache() {
  for (const auto& [key, node] : nodes_) pool_.give_back(node->memory_);
}

std::uint64_t PrefixCache::hash(const Node* parent, std::span<const std::int32_t> tokens) {
  std::uint64_t value = mix_bits(reinterpret_cast<std::uintptr_t>(parent));
  for (const std::int32_t token : tokens) value = mix_bits(value ^ static_cast<std::uint32_t>(token));
  return value;
}

PrefixCache::Node* PrefixCache::find(Node* parent, std::span<const std::int32_t> tokens) {
  const auto [first, last] = nodes_.equal_range(hash(parent, tokens));
  for (auto it = first; it != last; ++it) {
    Node& node = *it->second;
    if (node.parent_ != parent || !std::equal(tokens.begin(), tokens.end(), node.tokens_.begin())) continue;
    if (node.users_++ == 0) ++used_;
    return &node;
  }
  return nullptr;
}

PrefixCache::Node* PrefixCache::insert(Node* parent, std::span<const std::int32_t> tokens, std::byte* memory) {
  auto node = std::make_unique<Node>();
  node->parent_ = parent;
  std::copy(tokens.begin(), tokens.end(), node->tokens_.begin());
  node->memory_ = memory;
  node->users_ = 1;
  if (parent != nullptr) ++parent->children_;
  ++used_;
  return nodes_.emplace(hash(parent, tokens), std::move(node))->second.get();
}

void PrefixCache::release(Node* node) {
  node->last_use_ = ++clock_;
  if (--node->users_ == 0) --used_;
}

bool PrefixCache::evict() {
  auto oldest = nodes_.end();
  for (auto it = nodes_.begin(); it != nodes_.end(); ++it) {
    const Node& node = *it->second;
    // A page with children is kept longer than they are: without it they could not be found.
    if (node.users_ > 0 || node.children_ > 0) continue;
    if (oldest == nodes_.end() || node.last_use_ < oldest->second->last_use_) oldest = it;
  }
  if (oldest == nodes_.end()) return false;
  const Node& node = *oldest->second;
  if (node.parent_ != nullptr) --node.parent_->children_;
  pool_.give_back(node.memory_);
  nodes_.erase(oldest);
  return true;
}

}  // namespace glmhost::generation
