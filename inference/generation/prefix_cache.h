// Full cache pages of token prefixes that were computed before, so that a prefix is computed once: a system prompt, the
// earlier turns of a conversation, the common part of a thousand rows.
//
// A page's keys and values depend on the tokens in it and on all before it. Pages therefore form a tree: a node is
// known by its parent and its own tokens. Results are the same to the last bit with and without it (see scheduler.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>

#include "inference/generation/kv_pool.h"
#include "inference/kernels/attention.h"

namespace glmhost::generation {

// Not thread-safe: owned by the scheduler's thread.
class PrefixCache {
 public:
  // A full page, never written again. Whoever uses it also uses its parent.
  class Node {
   public:
    std::byte* memory() const { return memory_; }

   private:
    friend class PrefixCache;
    Node* parent_ = nullptr;  // null: the page holds positions from 0
    std::array<std::int32_t, kernels::kPageTokens> tokens_{};
    std::byte* memory_ = nullptr;
    std::int64_t users_ = 0;
    std::int64_t children_ = 0;
    std::uint64_t last_use_ = 0;
  };

  explicit PrefixCache(KvPool& pool) : pool_(pool) {}
  ~PrefixCache();
  PrefixCache(const PrefixCache&) = delete;
  PrefixCache& operator=(const PrefixCache&) = delete;

  // The page with these kPageTokens tokens after `parent` (null: at the start), with one user more; null when there is
  // none.
  Node* find(Node* parent, std::span<const std::int32_t> tokens);
  // Takes a page of the pool over; the caller is its first user. find must have said that there is none.
  Node* insert(Node* parent, std::span<const std::int32_t> tokens, std::byte* memory);
  void release(Node* node);  // one user less; the page stays until its room is needed

  // Gives the page that nobody has used for the longest time back to the pool; false when all are in use.
  bool evict();

  std::int64_t used() const { return used_; }  // pages with users
  std::int64_t pages() const { return static_cast<std::int64_t>(nodes_.size()); }

 private:
  static std::uint64_t hash(const Node* parent, std::span<const std::int32_t> tokens);

  KvPool& pool_;
  std::unordered_multimap<std::uint64_t, std::unique_ptr<Node>> nodes_;
  std::int64_t used_ = 0;
  std::uint64_t clock_ = 0;
};

}  // namespace glmhost::generation
