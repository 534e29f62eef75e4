// Who holds which pages of the cache, and how many are promised to whom.
//
// A sequence's pages are set aside in number when it is added and taken when its tokens get there. Pages that are full
// pass into the prefix cache, where other sequences with the same tokens find them. What is promised never exceeds the
// pool, so that a sequence once added never runs out; pages of the prefix cache that nobody uses give way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "inference/generation/kv_pool.h"
#include "inference/generation/prefix_cache.h"

namespace glmhost::generation {

inline std::int64_t pages_for(std::int64_t tokens) {
  return (tokens + kernels::kPageTokens - 1) / kernels::kPageTokens;
}

// What one sequence holds. computed >= full.size() * kPageTokens.
struct CacheHolding {
  std::vector<std::byte*> pages;         // in the order of positions
  std::vector<PrefixCache::Node*> full;  // the first of them, known to the prefix cache
  std::int64_t promised = 0;             // pages in all, the full ones included; 0: none, nothing may be taken
  std::int64_t computed = 0;             // tokens whose keys and values are in the pages
  // Pages with later tokens than this are not shared: other sequences' would differ from them in the last bits.
  std::int64_t shareable = std::numeric_limits<std::int64_t>::max();
};

// Not thread-safe: owned by the scheduler's thread.
class CacheLedger {
 public:
  CacheLedger(std::size_t page_bytes, std::int64_t pages) : pool_(page_bytes, pages), prefixes_(pool_) {}

  std::int64_t pages() const { return pool_.pages(); }
  std::size_t page_bytes() const { return pool_.page_bytes(); }

  // Takes over full pages that are known for `tokens`, as far as they go on from what the holding has computed and are
  // shareable. One token at least is left to compute, as its logits are not kept. Returns how many tokens it was
  // spared.
  std::int64_t adopt(CacheHolding& holding, std::span<const std::int32_t> tokens);

  // Promises the holding `pages` in all. False, and nothing promised, when they are not there.
  bool promise(CacheHolding& holding, std::int64_t pages);
  // Whether that promise could be kept once nobody but `keepers` and the holding itself held anything.
  bool could_promise(const CacheHolding& holding, std::int64_t pages,
                     std::span<const CacheHolding* const> keepers) const;

  // Takes pages until the holding has room for `tokens` positions. False when the system has no memory left.
  bool take(CacheHolding& holding, std::int64_t tokens);

  // `count` tokens more were computed: tokens[computed, computed + count).
  void record(CacheHolding& holding, std::span<const std::int32_t> tokens, std::int64_t count);

  void release(CacheHolding& holding);  // gives everything up

  std::int64_t pages_in_use() const { return prefixes_.used() + private_taken_; }
  std::int64_t pages_kept() const { return prefixes_.pages() - prefixes_.used(); }  // of prefixes that nobody uses now

 private:
  void settle(CacheHolding& holding, PrefixCache::Node* node);

  KvPool pool_;
  PrefixCache prefixes_;
  std::int64_t private_promised_ = 0;  // over all holdings: promised minus full
  std::int64_t private_taken_ = 0;     // over all holdings: pages minus full
};

}  // namespace glmhost::generation
