#include "inference/generation/kv_pool.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <set>

#include "tests/unit/inference/generation/refused.h"

namespace glmhost::generation {

TEST_CASE("pages are distinct, aligned, writable and bounded") {
  KvPool pool(4096, 5);
  CHECK(pool.pages() == 5);
  CHECK(pool.page_bytes() == 4096);
  std::set<std::byte*> pages;
  for (int i = 0; i < 5; ++i) {
    CHECK(pool.free_pages() == 5 - i);
    std::byte* page = pool.take();
    REQUIRE(page != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(page) % 64 == 0);
    std::memset(page, i, 4096);
    pages.insert(page);
  }
  CHECK(pages.size() == 5);
  CHECK(pool.take() == nullptr);
  int sum = 0;
  for (std::byte* page : pages) sum += static_cast<int>(page[4095]);
  CHECK(sum == 0 + 1 + 2 + 3 + 4);
  for (std::byte* page : pages) pool.give_back(page);
  CHECK(pool.free_pages() == 5);
}

TEST_CASE("a page given back is taken again first") {
  KvPool pool(1 << 20, 3);
  std::byte* first = pool.take();
  std::byte* second = pool.take();
  pool.give_back(first);
  CHECK(pool.take() == first);
  pool.give_back(second);
  pool.give_back(first);
  CHECK(pool.free_pages() == 3);
}

TEST_CASE("a huge bound costs nothing until pages are taken") {
  KvPool pool(1 << 20, 1 << 26);  // 64 TiB
  CHECK(pool.free_pages() == 1 << 26);
  pool.give_back(pool.take());
  CHECK(pool.free_pages() == 1 << 26);
}

TEST_CASE("what no machine can address is refused") {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  check_refused([&] { KvPool pool(1 << 20, most); }, ErrorKind::out_of_memory, {"1048576", "kv_bytes"});
  check_refused([&] { KvPool pool(64, 0); }, ErrorKind::out_of_memory, {"64"});
  check_refused([&] { KvPool pool(0, 1); }, ErrorKind::out_of_memory, {"0 bytes"});
}

}  // namespace glmhost::generation
