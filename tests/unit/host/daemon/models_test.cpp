// Loading on demand, keeping, unloading.
#include <doctest/doctest.h>

#include <thread>

#include "host/daemon/memory_plan.h"
#include "host/platform/paths.h"
#include "tests/unit/host/daemon/running_daemon.h"

namespace glmhost::daemon {
namespace {

namespace fs = std::filesystem;

protocol::Control control(protocol::Control::Action action, const std::string& model) {
  protocol::Control out;
  out.action = action;
  out.model = model;
  return out;
}

using Action = protocol::Control::Action;

// A request that is never answered from the store.
Request fresh(const std::string& model, std::int32_t max_tokens = 8) {
  Request request = raw("hello", max_tokens);
  request.model = model;
  request.memo = false;
  return request;
}

TEST_CASE("a model is loaded on first use, stays, and goes after its keep-alive") {
  RunningDaemon host;
  host.settings.keep_alive_s = 1;
  Daemon& daemon = host.start();
  const auto client = host.client();
  CHECK(model_status(*client, "tiny").state == "available");
  result_of(ask(*client, fresh("tiny")));
  result_of(ask(*client, fresh("tiny")));
  CHECK(daemon.counters().loads == 1);
  while (daemon.counters().unloads == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(model_status(*client, "tiny").state == "available");
  result_of(ask(*client, fresh("tiny")));
  CHECK(daemon.counters().loads == 2);
}

TEST_CASE("keep-alive 0 unloads at once, -1 never") {
  RunningDaemon host;
  host.settings.keep_alive_s = 0;
  Daemon* daemon = &host.start();
  const auto client = host.client();
  for (int i = 0; i < 3; ++i) result_of(ask(*client, fresh("tiny")));
  CHECK(daemon->counters().loads <= 3);
  while (daemon->counters().unloads < daemon->counters().loads) std::this_thread::yield();
  host.settings.keep_alive_s = -1;
  daemon = &host.start();
  const auto other = host.client();
  result_of(ask(*other, fresh("tiny")));
  CHECK(model_status(*other, "tiny").unload_in_s == -1);
}

TEST_CASE("a model may be named by the path of its file, and is the same model") {
  RunningDaemon host;
  Daemon& daemon = host.start();
  const auto client = host.client();
  const std::string by_name = result_of(ask(*client, fresh("tiny"))).content;
  const std::string path = platform::to_utf8(host.models() / ".." / "models" / "tiny.gguf");
  CHECK(result_of(ask(*client, fresh(path))).content == by_name);
  CHECK(daemon.counters().loads == 1);
}

TEST_CASE("load and unload on request") {
  RunningDaemon host;
  Daemon& daemon = host.start();
  const auto client = host.client();
  const auto error = [&](Action action, const std::string& model) {
    return error_of(client->control(control(action, model), kPatience));
  };
  CHECK(error(Action::unload_model, "tiny").code == ErrorCode::no_model);
  CHECK(error(Action::load_model, "nothing").code == ErrorCode::no_model);
  result_of(client->control(control(Action::load_model, "tiny"), kPatience));
  CHECK(model_status(*client, "tiny").state == "loaded");
  result_of(client->control(control(Action::load_model, ""), kPatience));  // the default model, loaded already
  CHECK(daemon.counters().loads == 1);

  auto running = client->start(fresh("tiny", 2000));
  const Outcome busy = client->control(control(Action::unload_model, "tiny"), kPatience);
  if (const auto* refused = std::get_if<ErrorMessage>(&busy)) CHECK(refused->code == ErrorCode::busy);
  REQUIRE(running.wait_for(kPatience).has_value());
  REQUIRE(daemon.wait_until_idle(kPatience));
  if (std::holds_alternative<ErrorMessage>(busy)) {
    result_of(client->control(control(Action::unload_model, "tiny"), kPatience));
  }
  CHECK(model_status(*client, "tiny").state == "available");
}

TEST_CASE("the least recently used idle model makes room for another") {
  RunningDaemon host;
  for (const char* name : {"b", "c"}) host.add_model(name);
  Daemon* daemon = &host.start();
  const auto first = host.client();
  result_of(ask(*first, fresh("tiny")));
  const std::uint64_t one = model_status(*first, "tiny").memory_bytes;

  host.settings.memory_limit = one * 2 + one / 2;
  daemon = &host.start();
  const auto client = host.client();
  result_of(ask(*client, fresh("tiny")));
  result_of(ask(*client, fresh("b")));
  result_of(ask(*client, fresh("tiny")));
  result_of(ask(*client, fresh("c")));
  CHECK(daemon->counters().loads == 3);
  CHECK(daemon->counters().unloads == 1);
  CHECK(model_status(*client, "b").state == "available");
  CHECK(model_status(*client, "tiny").state == "loaded");
  CHECK(model_status(*client, "c").state == "loaded");

  // When those in the way are answering, the request is told to come again, and it succeeds when they are done.
  auto a = client->start(fresh("tiny", 2000)), c = client->start(fresh("c", 2000));
  const Outcome outcome = ask(*client, fresh("b"));
  REQUIRE(a.wait_for(kPatience).has_value());
  REQUIRE(c.wait_for(kPatience).has_value());
  if (const auto* error = std::get_if<ErrorMessage>(&outcome)) CHECK(error->code == ErrorCode::busy);
  REQUIRE(daemon->wait_until_idle(kPatience));
  CHECK(result_of(ask(*client, fresh("b"))).model == "b");
}

TEST_CASE("a file replaced on disk is another model") {
  RunningDaemon host;
  Daemon& daemon = host.start();
  const auto client = host.client();
  const std::string before = result_of(ask(*client, raw("hello", 30))).content;
  auto running = client->start(fresh("tiny", 1500));
  const auto tokens = daemon.counters().generated_tokens;
  while (daemon.counters().generated_tokens == tokens) std::this_thread::yield();
  fs::remove(host.models() / "tiny.gguf");
  host.add_model("tiny", "glm4-a");
  const Result after = result_of(ask(*client, raw("hello", 30)));
  CHECK_FALSE(after.from_memo);
  CHECK(after.content != before);
  CHECK(model_status(*client, "tiny").architecture == "glm4");
  const auto outcome = running.wait_for(kPatience);  // by the old one, to its end
  REQUIRE(outcome.has_value());
  CHECK(result_of(*outcome).usage.generated_tokens > 30);
  // The same content again has the same answers, whatever its time.
  fs::remove(host.models() / "tiny.gguf");
  host.add_model("tiny");
  const Result again = result_of(ask(*client, raw("hello", 30)));
  CHECK(again.content == before);
  CHECK(daemon.wait_until_idle(kPatience));
}

TEST_CASE("the memory plan") {
  constexpr std::uint64_t mib = 1u << 20;
  const std::uint64_t total = 8192 * mib;
  const std::uint64_t kept = headroom(total);
  CHECK(kept == total / 100 * 3);
  CHECK(headroom(1024 * mib) == 128 * mib);
  const MemoryNeed need{
      .weights = 1000 * mib, .workspace = 100 * mib, .cache_wanted = 500 * mib, .cache_least = 50 * mib};
  const auto plan = [&](const MemoryNow& now, std::vector<IdleModel> idle = {}) {
    return plan_memory("m", need, now, idle, total);
  };

  SUBCASE("all of it fits") {
    const MemoryPlan roomy = plan({.available = 1600 * mib + kept});
    CHECK(roomy.fits);
    CHECK(roomy.cache == 500 * mib);
    CHECK(roomy.unload == 0);
    CHECK(plan({}).fits);  // a system that tells nothing is trusted
  }
  SUBCASE("the cache shrinks to what is there") {
    const MemoryPlan tight = plan({.available = 1300 * mib + kept});
    CHECK(tight.fits);
    CHECK(tight.cache == 200 * mib);
  }
  SUBCASE("what was promised to other caches is not there") {
    CHECK_FALSE(plan({.available = 1300 * mib + kept, .untouched = 200 * mib, .loaded = 900 * mib}).fits);
  }
  SUBCASE("idle models go, no more than needed, before the cache shrinks") {
    const std::vector<IdleModel> idle{{700 * mib, 0}, {700 * mib, 300 * mib}};
    CHECK(plan({.available = 1000 * mib + kept, .loaded = 1400 * mib}, idle).unload == 1);
    CHECK(plan({.available = 400 * mib + kept, .loaded = 1400 * mib}, idle).unload == 2);
    CHECK(plan({.available = 400 * mib + kept, .loaded = 1400 * mib}, idle).cache < 500 * mib);
  }
  SUBCASE("the limit counts all models") {
    const MemoryNow now{.available = 6000 * mib, .limit = 2000 * mib, .loaded = 1000 * mib};
    const MemoryPlan refused = plan(now);
    CHECK_FALSE(refused.fits);
    CHECK(refused.fits_when_idle);
    CHECK(mentions(refused.sentence, {"needs 1.1 GiB", "1000.0 MiB weights", "memory_limit", "try again later"}));
    CHECK(plan(now, {{900 * mib, 0}}).fits);
  }
  SUBCASE("too large for the machine") {
    const MemoryPlan refused = plan({.available = 500 * mib});
    CHECK_FALSE(refused.fits);
    CHECK_FALSE(refused.fits_when_idle);
    CHECK(mentions(refused.sentence, {"m needs", "500.0 MiB are free", "smaller model"}));
  }
  SUBCASE("a cache that the owner fixed does not shrink") {
    MemoryNeed fixed = need;
    fixed.cache_least = fixed.cache_wanted;
    CHECK_FALSE(plan_memory("m", fixed, {.available = 1300 * mib + kept}, {}, total).fits);
  }
}

}  // namespace
}  // namespace glmhost::daemon
