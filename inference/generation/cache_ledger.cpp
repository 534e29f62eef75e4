#include "inference/generation/cache_ledger.h"

#include <algorithm>
#include <unordered_set>

namespace glmhost::generation {

namespace {

// The tokens of page `index`.
std::span<const std::int32_t> page_tokens(std::span<const std::int32_t> tokens, std::size_t index) {
  constexpr auto kTokens = static_cast<std::size_t>(kernels::kPageTokens);
  return tokens.subspan(index * kTokens, kTokens);
}

std::int64_t size_of(const std::vector<PrefixCache::Node*>& nodes) {
  return static_cast<std::int64_t>(nodes.size());
}

PrefixCache::Node* last_of(const CacheHolding& holding) {
  return holding.full.empty() ? nullptr : holding.full.back();
}

}  // namespace

// The holding's next page is that of the node, of which it has become a user. Its own copy is given back.
void CacheLedger::settle(CacheHolding& holding, PrefixCache::Node* node) {
  const std::size_t index = holding.full.size();
  if (index < holding.pages.size()) {
    if (holding.pages[index] != node->memory()) pool_.give_back(holding.pages[index]);
    holding.pages[index] = node->memory();
    --private_taken_;
  } else {
    holding.pages.push_back(node->memory());
  }
  holding.full.push_back(node);
  if (holding.promised > 0) --private_promised_;
}

std::int64_t CacheLedger::adopt(CacheHolding& holding, std::span<const std::int32_t> tokens) {
  const std::int64_t before = holding.computed;
  while (holding.computed == size_of(holding.full) * kernels::kPageTokens &&
         holding.computed + kernels::kPageTokens < static_cast<std::int64_t>(tokens.size()) &&
         holding.computed + kernels::kPageTokens <= holding.shareable) {
    PrefixCache::Node* node = prefixes_.find(last_of(holding), page_tokens(tokens, holding.full.size()));
    if (node == nullptr) break;
    settle(holding, node);
    holding.computed += kernels::kPageTokens;
  }
  return holding.computed - before;
}

bool CacheLedger::promise(CacheHolding& holding, std::int64_t pages) {
  const std::int64_t more = pages - size_of(holding.full);
  if (prefixes_.used() + private_promised_ + more > pool_.pages()) return false;
  holding.promised = pages;
  private_promised_ += more;
  return true;
}

bool CacheLedger::could_promise(const CacheHolding& holding, std::int64_t pages,
                                std::span<const CacheHolding* const> keepers) const {
  std::unordered_set<const PrefixCache::Node*> full(holding.full.begin(), holding.full.end());
  std::int64_t others = pages - size_of(holding.full);
  for (const CacheHolding* keeper : keepers) {
    full.insert(keeper->full.begin(), keeper->full.end());
    others += keeper->promised - size_of(keeper->full);
  }
  return static_cast<std::int64_t>(full.size()) + others <= pool_.pages();
}

bool CacheLedger::take(CacheHolding& holding, std::int64_t tokens) {
  while (static_cast<std::int64_t>(holding.pages.size()) < pages_for(tokens)) {
    std::byte* page = pool_.take();
    while (page == nullptr && prefixes_.evict()) page = pool_.take();
    if (page == nullptr) return false;
    holding.pages.push_back(page);
    ++private_taken_;
  }
  return true;
}

void CacheLedger::record(CacheHolding& holding, std::span<const std::int32_t> tokens, std::int64_t count) {
  holding.computed += count;
  while ((size_of(holding.full) + 1) * kernels::kPageTokens <= std::min(holding.computed, holding.shareable)) {
    const std::size_t index = holding.full.size();
    PrefixCache::Node* parent = last_of(holding);
    // Another sequence may have computed the same page meanwhile; the two are equal to the last bit.
    PrefixCache::Node* node = prefixes_.find(parent, page_tokens(tokens, index));
    if (node == nullptr) node = prefixes_.insert(parent, page_tokens(tokens, index), holding.pages[index]);
    settle(holding, node);
  }
}

void CacheLedger::release(CacheHolding& holding) {
  for (std::size_t i = holding.full.size(); i < holding.pages.size(); ++i) {
    pool_.give_back(holding.pages[i]);
    --private_taken_;
  }
  // The last first, so that of a prefix its end gives way first.
  for (auto node = holding.full.rbegin(); node != holding.full.rend(); ++node) prefixes_.release(*node);
  if (holding.promised > 0) private_promised_ -= holding.promised - size_of(holding.full);
  const std::int64_t shareable = holding.shareable;
  holding = {};
  holding.shareable = shareable;
}

}  // namespace glmhost::generation
