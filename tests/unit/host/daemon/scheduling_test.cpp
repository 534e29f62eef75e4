// Who runs when, and that nothing runs for nobody.
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/unit/host/daemon/running_daemon.h"

namespace glmhost::daemon {
namespace {

// Lets a test wait for the first delta of a request. The callback may run on after the request was cancelled, so what
// it touches is shared.
class FirstDelta {
 public:
  protocol::RequestCallbacks callbacks() const {
    protocol::RequestCallbacks out;
    out.on_delta = [came = came_](const protocol::Delta&) {
      *came = true;
      came->notify_all();
    };
    return out;
  }
  void wait() const { came_->wait(false); }

 private:
  std::shared_ptr<std::atomic<bool>> came_ = std::make_shared<std::atomic<bool>>(false);
};

Request batch(const std::string& prompt, std::int32_t max_tokens) {
  Request request = raw(prompt, max_tokens);
  request.priority = protocol::Priority::batch;
  return request;
}

// Nothing is computed any more: a short request afterwards adds exactly its own tokens.
void check_engine_is_free(const Daemon& daemon, Client& client) {
  REQUIRE(daemon.wait_until_idle(kPatience));
  const Daemon::Counters before = daemon.counters();
  Request request = raw("free?", 5);
  request.memo = false;
  const Result result = result_of(ask(client, request));
  const Daemon::Counters after = daemon.counters();
  CHECK(after.generated_tokens - before.generated_tokens == 5);
  CHECK(after.prompt_tokens - before.prompt_tokens == result.usage.prompt_tokens);
}

TEST_CASE("a cancelled answer frees the engine") {
  RunningDaemon host;
  Daemon& daemon = host.start();
  const auto client = host.client();
  for (int round = 0; round < 20; ++round) {
    FirstDelta first;
    const auto before = daemon.counters().generated_tokens;
    auto call = client->start(raw("round " + std::to_string(round), 2000), first.callbacks());
    first.wait();
    call.cancel();
    const auto outcome = call.wait_for(kPatience);
    REQUIRE(outcome.has_value());
    if (std::holds_alternative<Result>(*outcome)) continue;  // the machine stopped this test for so long
    CHECK(error_of(*outcome).code == ErrorCode::cancelled);
    REQUIRE(daemon.wait_until_idle(kPatience));
    CHECK(daemon.counters().generated_tokens - before < 2000);
  }
  check_engine_is_free(daemon, *client);
  // Nothing of a cancelled answer is kept.
  CHECK_FALSE(result_of(ask(*client, raw("round 0", 2000))).from_memo);
}

TEST_CASE("requests cancelled at any moment leave nothing behind") {
  RunningDaemon host;
  host.settings.max_sequences = 2;
  Daemon& daemon = host.start();
  const auto client = host.client();
  std::string long_prompt;
  for (int i = 0; i < 900; ++i) long_prompt += " 7";
  std::vector<Client::Call> calls;
  for (int i = 0; i < 60; ++i) {
    calls.push_back(client->start(raw((i % 2 == 0 ? long_prompt : "short ") + std::to_string(i), 400)));
    if (i % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(i * 37 % 700));
    if (i % 3 != 2) calls[static_cast<std::size_t>(i * 7 % (i + 1))].cancel();
  }
  for (auto& call : calls) call.cancel();
  for (auto& call : calls) CHECK(call.wait_for(kPatience).has_value());
  check_engine_is_free(daemon, *client);
  const protocol::Status status = status_of(*client);
  CHECK(status.queue.waiting == 0);
  CHECK(status.queue.running == 0);
}

TEST_CASE("a client that goes away takes its requests with it") {
  RunningDaemon host;
  host.settings.max_sequences = 2;
  Daemon& daemon = host.start();
  const auto watcher = host.client();
  result_of(ask(*watcher, raw("warm")));
  {
    const auto client = host.client("leaver");
    FirstDelta first;
    std::vector<Client::Call> calls;
    calls.push_back(client->start(raw("a", 2000), first.callbacks()));
    for (int i = 0; i < 10; ++i) calls.push_back(client->start(raw("b" + std::to_string(i), 2000)));
    first.wait();
  }
  check_engine_is_free(daemon, *watcher);
}

TEST_CASE("interactive work passes batch work that runs and that waits") {
  RunningDaemon host;
  host.settings.max_sequences = 1;
  host.start();
  const auto client = host.client(), editor = host.client();
  std::mutex mutex;
  std::vector<std::string> order;
  const auto noting = [&](const std::string& name) {
    protocol::RequestCallbacks callbacks;
    callbacks.on_done = [&, name](const Outcome&) {
      const std::lock_guard lock(mutex);
      order.push_back(name);
    };
    return callbacks;
  };
  FirstDelta first;
  protocol::RequestCallbacks running = first.callbacks();
  running.on_done = noting("running batch").on_done;
  auto one = client->start(batch("one", 1900), running);
  auto two = client->start(batch("two", 50), noting("waiting batch"));
  first.wait();
  std::atomic<bool> too_late{false};
  protocol::RequestCallbacks interactive = noting("interactive");
  interactive.on_accepted = [&](const protocol::Accepted&) {
    const std::lock_guard lock(mutex);
    too_late = !order.empty();
  };
  auto three = editor->start(raw("three", 10), interactive);
  for (auto* call : {&one, &two, &three}) {
    const auto outcome = call->wait_for(kPatience);
    REQUIRE(outcome.has_value());
    result_of(*outcome);
  }
  const std::lock_guard lock(mutex);
  if (too_late) {
    MESSAGE("skipped: this machine held the test up until the batch answer was done");
    return;
  }
  CHECK(order == std::vector<std::string>{"interactive", "running batch", "waiting batch"});
}

TEST_CASE("a client with one request does not wait for all of another's") {
  RunningDaemon host;
  host.settings.max_sequences = 1;
  host.start();
  const auto crowd = host.client(), single = host.client();
  std::atomic<int> crowd_done{0};
  protocol::RequestCallbacks counting;
  counting.on_done = [&](const Outcome&) { ++crowd_done; };
  FirstDelta first;
  auto running = crowd->start(raw("first", 600), first.callbacks());
  std::vector<Client::Call> calls;
  for (int i = 0; i < 30; ++i) calls.push_back(crowd->start(raw("crowd " + std::to_string(i), 300), counting));
  first.wait();
  std::atomic<int> crowd_before{-1};
  protocol::RequestCallbacks noting;
  noting.on_done = [&](const Outcome&) { crowd_before = crowd_done.load(); };
  auto call = single->start(raw("single", 20), noting);
  REQUIRE(call.wait_for(kPatience).has_value());
  for (auto& other : calls) REQUIRE(other.wait_for(kPatience).has_value());
  CHECK(crowd_before < 15);
}

TEST_CASE("two models answer side by side, each its own") {
  RunningDaemon host;
  host.add_model("other", "glm4-a");
  host.start();
  const auto client = host.client();
  Request one = raw("hello", 60), two = raw("hello", 60);
  two.model = "other";
  auto a = client->start(one), b = client->start(two);
  const auto first = a.wait_for(kPatience), second = b.wait_for(kPatience);
  REQUIRE(first.has_value());
  REQUIRE(second.has_value());
  CHECK(result_of(*first).model == "tiny");
  CHECK(result_of(*second).model == "other");
  CHECK(result_of(*first).content != result_of(*second).content);
  CHECK(model_status(*client, "other").architecture == "glm4");
}

TEST_CASE("stop lets running requests finish, refuses the rest, and answers the one who asked last") {
  RunningDaemon host;
  host.settings.max_sequences = 1;
  Daemon& daemon = host.start();
  const auto client = host.client();
  FirstDelta first;
  auto running = client->start(raw("running", 1000), first.callbacks());
  first.wait();
  auto waiting = client->start(raw("waiting", 1000));
  protocol::Control stop;
  const Outcome stopped = client->control(stop, kPatience);
  CHECK(std::holds_alternative<Result>(stopped));
  const auto finished = running.wait_for(kPatience), refused = waiting.wait_for(kPatience);
  REQUIRE(finished.has_value());
  REQUIRE(refused.has_value());
  CHECK(result_of(*finished).finish_reason != "");
  CHECK(error_of(*refused).code == ErrorCode::backend_failed);
  daemon.wait();
  CHECK_FALSE(std::filesystem::exists(host.runtime() / "host.json"));
  // What finished last is kept, too.
  host.start();
  CHECK(result_of(ask(*host.client(), raw("running", 1000))).from_memo);
}

TEST_CASE("a second stop does not wait") {
  RunningDaemon host;
  Daemon& daemon = host.start();
  const auto client = host.client();
  FirstDelta first;
  auto running = client->start(raw("running", 2000), first.callbacks());
  first.wait();
  daemon.stop();
  daemon.stop();
  daemon.wait();
  CHECK(running.wait_for(kPatience).has_value());
}

TEST_CASE("a daemon that nobody needs ends by itself when it was told to") {
  RunningDaemon host;
  host.settings.idle_exit_s = 1;
  Daemon& daemon = host.start();
  result_of(ask(*host.client(), raw("x")));
  daemon.wait();  // the test's time limit is the check
  CHECK_FALSE(std::filesystem::exists(host.runtime() / "host.json"));
}

}  // namespace
}  // namespace glmhost::daemon
