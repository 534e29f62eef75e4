#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "host/platform/signals.h"

using namespace glmhost::platform;

namespace {

bool eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace

TEST_CASE("each signal calls back once, on a thread that may lock and allocate") {
  std::mutex mutex;
  std::string calls;
  std::thread::id thread;
  {
    const StopSignals signals([&] {
      const std::lock_guard lock(mutex);
      calls += "stop ";
      thread = std::this_thread::get_id();
    });
    int expected = 0;
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGTERM}) {
      ++expected;
      REQUIRE(kill(getpid(), signal) == 0);
      CHECK(eventually([&] {
        const std::lock_guard lock(mutex);
        return calls.size() == static_cast<std::size_t>(expected) * 5;
      }));
    }
  }
  CHECK(thread != std::this_thread::get_id());
}

TEST_CASE("afterwards the handlers are as they were") {
  struct sigaction ours {};
  ours.sa_handler = [](int) {};
  struct sigaction before {};
  sigaction(SIGTERM, &ours, &before);
  {
    const StopSignals signals([] {});
  }
  struct sigaction after {};
  sigaction(SIGTERM, &before, &after);
  const bool same = after.sa_handler == ours.sa_handler;
  CHECK(same);
}

TEST_CASE("what nohup ignores stays ignored") {
  std::atomic<int> calls = 0;
  signal(SIGHUP, SIG_IGN);
  {
    const StopSignals signals([&] { ++calls; });
    kill(getpid(), SIGHUP);
    kill(getpid(), SIGTERM);
    CHECK(eventually([&] { return calls == 1; }));
  }
  CHECK(calls == 1);
  signal(SIGHUP, SIG_DFL);
}

TEST_CASE("one at a time") {
  const StopSignals first([] {});
  CHECK_THROWS_AS(StopSignals([] {}), std::logic_error);
}

TEST_CASE("the destructor waits for a running callback") {
  std::atomic<bool> entered = false;
  std::atomic<bool> left = false;
  {
    const StopSignals signals([&] {
      entered = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      left = true;
    });
    kill(getpid(), SIGTERM);
    REQUIRE(eventually([&] { return entered.load(); }));
  }
  CHECK(left);
}

TEST_CASE("writing to a closed pipe is an error, not the end") {
  prepare_console();
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  close(ends[0]);
  CHECK(write(ends[1], "x", 1) == -1);
  CHECK(errno == EPIPE);
  close(ends[1]);
}

TEST_CASE("arguments as they are") {
  char program[] = "glm";
  char text[] = "数 b";
  char* argv[] = {program, text, nullptr};
  CHECK(utf8_arguments(2, argv) == std::vector<std::string>{"glm", "数 b"});
}
