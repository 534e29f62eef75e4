#include "host/protocol/waker.h"

#include <doctest/doctest.h>

#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "host/protocol/timing.h"

using namespace glmhost::protocol;
using namespace std::chrono_literals;

namespace {

// True when woken within 20 seconds.
bool wait(Waker& waker) {
  std::vector<zmq::pollitem_t> items = {{waker.socket().handle(), 0, ZMQ_POLLIN, 0}};
  poll_sockets(items, 20s);
  return waker.clear();
}

}  // namespace

TEST_CASE("one wake or many before the wait: woken once") {
  zmq::context_t context;
  Waker waker(context);
  CHECK(!waker.clear());
  waker.wake();
  CHECK(wait(waker));
  CHECK(!waker.clear());
  for (int i = 0; i < 5000; ++i) waker.wake();
  CHECK(wait(waker));
  CHECK(!waker.clear());
}

TEST_CASE("no wake is lost between many threads and one that sleeps") {
  constexpr int kThreads = 4;
  constexpr int kEach = 3000;
  zmq::context_t context;
  Waker waker(context);
  std::mutex mutex;
  int left_for_sleeper = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        {
          const std::lock_guard lock(mutex);
          ++left_for_sleeper;
        }
        waker.wake();
      }
    });
  }
  int seen = 0;
  while (seen < kThreads * kEach && wait(waker)) {
    const std::lock_guard lock(mutex);
    seen += std::exchange(left_for_sleeper, 0);
  }
  CHECK(seen == kThreads * kEach);
  for (auto& thread : threads) thread.join();
}
