#include "inference/kernels/thread_pool.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <numeric>
#include <thread>
#include <vector>

namespace glmhost::kernels {

TEST_CASE("Every index is visited once, in pieces of at most the grain") {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    CHECK(pool.size() == threads);
    for (const std::int64_t count : {0, 1, 2, 7, 64, 1000}) {
      for (const std::int64_t grain : {1, 3, 64, 5000}) {
        std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
        std::atomic<bool> good = true;
        pool.for_range(count, grain, [&](std::int64_t begin, std::int64_t end, int thread) {
          if (begin >= end || end - begin > grain || thread < 0 || thread >= threads) good = false;
          for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
        });
        CHECK(good);
        for (const std::atomic<int>& v : visits) CHECK(v == 1);
      }
    }
  }
}

TEST_CASE("What the pieces wrote is seen after the loop, through many short loops") {
  ThreadPool pool(3);
  std::vector<std::int64_t> values(97, 0);
  for (std::int64_t round = 1; round <= 5000; ++round) {
    pool.for_range(std::ssize(values), 5, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i) values[static_cast<std::size_t>(i)] += i;
    });
    if (std::accumulate(values.begin(), values.end(), std::int64_t{0}) != round * (96 * 97 / 2)) {
      FAIL("a piece was lost or seen late in round " << round);
    }
  }
}

TEST_CASE("No two pieces run on the same thread number at once") {
  ThreadPool pool(4);
  std::vector<std::atomic<int>> inside(4);
  std::atomic<bool> overlapped = false;
  for (int round = 0; round < 200; ++round) {
    pool.for_range(64, 1, [&](std::int64_t, std::int64_t, int thread) {
      if (inside[static_cast<std::size_t>(thread)].fetch_add(1) != 0) overlapped = true;
      inside[static_cast<std::size_t>(thread)].fetch_sub(1);
    });
  }
  CHECK_FALSE(overlapped);
}

TEST_CASE("A loop works after the workers have gone to sleep") {
  ThreadPool pool(2);
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::atomic<std::int64_t> sum = 0;
    pool.for_range(1000, 10, [&](std::int64_t begin, std::int64_t end, int) { sum += end - begin; });
    CHECK(sum == 1000);
  }
}

TEST_CASE("A small loop stays on the caller's thread") {
  ThreadPool pool(4);
  std::thread::id id;
  pool.for_range(8, 8, [&](std::int64_t, std::int64_t, int thread) {
    id = std::this_thread::get_id();
    CHECK(thread == 0);
  });
  CHECK(id == std::this_thread::get_id());
}

TEST_CASE("An idle pool uses no processor time") {
  ThreadPool pool(4);
  pool.for_range(100, 1, [](std::int64_t, std::int64_t, int) {});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::clock_t before = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  CHECK(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC < 0.01);
}

TEST_CASE("A worker that was kept from its core stays out for a while and then comes back") {
  using Clock = std::chrono::steady_clock;
  ThreadPool pool(2);
  std::atomic<bool> worker_has_piece = false;
  const Clock::time_point begin = Clock::now();
  pool.for_range(2, 1, [&](std::int64_t, std::int64_t, int thread) {
    if (thread == 0) {
      while (!worker_has_piece) std::this_thread::yield();
    } else {
      worker_has_piece = true;  // and now it loses its core for much longer than a piece takes
      std::this_thread::sleep_for(10 * (Clock::now() - begin) + std::chrono::milliseconds(20));
    }
  });
  std::atomic<int> by_worker = 0;
  const auto run = [&](std::chrono::milliseconds callers_piece) {
    pool.for_range(100, 1, [&](std::int64_t, std::int64_t, int thread) {
      by_worker += thread;
      if (thread == 0) std::this_thread::sleep_for(callers_piece);
    });
  };
  run(std::chrono::milliseconds(0));
  CHECK(by_worker == 0);
  for (int i = 0; i < 200 && by_worker == 0; ++i) run(std::chrono::milliseconds(1));
  CHECK(by_worker > 0);
}

TEST_CASE("Scratch memory is there for every thread and grows") {
  ThreadPool pool(3);
  pool.reserve_scratch(100, 1000);
  pool.reserve_scratch(5000);
  std::vector<std::byte*> places;
  for (int thread = 0; thread < 3; ++thread) {
    std::byte* memory = pool.scratch(thread);
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % 64 == 0);
    std::fill(memory, memory + 5000, static_cast<std::byte>(thread));
  }
  for (int thread = 0; thread < 3; ++thread) CHECK(pool.scratch(thread)[4999] == static_cast<std::byte>(thread));
  std::fill(pool.shared_scratch(), pool.shared_scratch() + 1000, std::byte{9});
  CHECK(pool.scratch(0)[0] == std::byte{0});
}

}  // namespace glmhost::kernels
