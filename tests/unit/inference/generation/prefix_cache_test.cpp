#include "inference/generation/prefix_cache.h"

#include <doctest/doctest.h>

#include <numeric>
#include <vector>

namespace glmhost::generation {

namespace {

std::vector<std::int32_t> page_of(std::int32_t first) {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(kernels::kPageTokens));
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

}  // namespace

TEST_CASE("a page is found by its tokens and those before it") {
  KvPool pool(64, 8);
  PrefixCache cache(pool);
  CHECK(cache.find(nullptr, page_of(0)) == nullptr);
  std::byte* memory = pool.take();
  PrefixCache::Node* first = cache.insert(nullptr, page_of(0), memory);
  PrefixCache::Node* second = cache.insert(first, page_of(100), pool.take());
  CHECK(first->memory() == memory);
  CHECK(cache.used() == 2);
  CHECK(cache.find(nullptr, page_of(0)) == first);
  CHECK(cache.find(first, page_of(100)) == second);
  CHECK(cache.find(nullptr, page_of(100)) == nullptr);
  CHECK(cache.find(second, page_of(100)) == nullptr);
  std::vector<std::int32_t> other = page_of(0);
  other.back() = 7;
  CHECK(cache.find(nullptr, other) == nullptr);
}

TEST_CASE("pages in use are never evicted, others the longest unused first and ends before beginnings") {
  KvPool pool(64, 8);
  PrefixCache cache(pool);
  PrefixCache::Node* root = cache.insert(nullptr, page_of(0), pool.take());
  PrefixCache::Node* older = cache.insert(root, page_of(100), pool.take());
  PrefixCache::Node* newer = cache.insert(root, page_of(200), pool.take());
  CHECK_FALSE(cache.evict());
  cache.release(root);
  CHECK_FALSE(cache.evict());  // nobody's, but its children are in use
  cache.release(older);
  cache.release(newer);
  CHECK(cache.used() == 0);
  CHECK(cache.pages() == 3);
  CHECK(cache.find(root, page_of(100)) == older);  // used again: now the younger of the two
  cache.release(older);
  CHECK(cache.evict());
  CHECK(cache.find(root, page_of(200)) == nullptr);
  CHECK(cache.evict());
  CHECK(cache.find(root, page_of(100)) == nullptr);
  CHECK(cache.evict());
  CHECK_FALSE(cache.evict());
  CHECK(cache.pages() == 0);
  CHECK(pool.free_pages() == 8);
}

TEST_CASE("a cache gives its pages back when it goes") {
  KvPool pool(64, 2);
  {
    PrefixCache cache(pool);
    cache.insert(nullptr, page_of(0), pool.take());
    CHECK(pool.free_pages() == 1);
  }
  CHECK(pool.free_pages() == 2);
}

}  // namespace glmhost::generation
