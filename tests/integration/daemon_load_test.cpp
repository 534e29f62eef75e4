// Many clients at once: nothing is lost, nobody waits for ever, memory is bounded.
#ifndef _WIN32

#include <atomic>
#include <map>

#include "tests/integration/daemon_process.h"
#include "tests/unit/sanitizers.h"

namespace glmhost::integration {
namespace {

struct Tally {
  std::size_t answered = 0;
  std::size_t busy = 0;
  std::map<std::string, std::size_t> failures;
};

constexpr std::size_t kClients = 200;
constexpr std::size_t kRequests = test::kSanitized ? 400 : 2000;

// Every client opens its share of the requests at once; every fifth request is one that all clients ask.
Tally storm(const DaemonProcess& daemon, std::int32_t max_tokens) {
  std::vector<std::unique_ptr<protocol::Client>> clients;
  for (std::size_t i = 0; i < kClients; ++i) clients.push_back(daemon.client());
  std::map<std::string, std::string> contents;  // equal requests, equal answers
  std::vector<protocol::Client::Call> calls;
  std::vector<std::string> prompts;
  for (std::size_t i = 0; i < kRequests; ++i) {
    const std::string name = i % 5 == 0 ? "shared " + std::to_string(i % 25) : "number " + std::to_string(i);
    protocol::Request request = raw("Write about " + name, max_tokens);
    request.priority = i % 3 == 0 ? protocol::Priority::interactive : protocol::Priority::batch;
    calls.push_back(clients[i % kClients]->start(request));
    prompts.push_back(*request.prompt);
  }
  Tally tally;
  for (std::size_t i = 0; i < kRequests; ++i) {
    const auto outcome = calls[i].wait_for(kPatience);
    REQUIRE_MESSAGE(outcome.has_value(), "request " << i << " has no outcome");
    if (const auto* result = std::get_if<protocol::Result>(&*outcome)) {
      ++tally.answered;
      const auto [place, is_new] = contents.emplace(prompts[i], result->content);
      CHECK(place->second == result->content);
    } else {
      const auto& error = std::get<protocol::ErrorMessage>(*outcome);
      if (error.code == protocol::ErrorCode::busy) {
        ++tally.busy;
      } else {
        ++tally.failures[error.sentence];
      }
    }
  }
  for (const auto& [sentence, count] : tally.failures) MESSAGE(count << " times: " << sentence);
  return tally;
}

void tell(const std::string& what, const Tally& tally, const DaemonProcess& daemon, Clock::time_point start) {
  MESSAGE(what << ": " << tally.answered << " answered, " << tally.busy << " refused as busy, "
               << std::chrono::duration<double>(Clock::now() - start).count() << " s, daemon at most "
               << daemon.memory_kb("VmHWM") / 1024 << " MiB");
}

TEST_CASE("200 clients with 2,000 requests are all answered") {
  DaemonProcess daemon;
  daemon.start();
  const auto start = Clock::now();
  const Tally tally = storm(daemon, 8);
  tell("all admitted", tally, daemon, start);
  CHECK(tally.answered == kRequests);
  CHECK(daemon.memory_kb("VmHWM") < 1'500'000);
  CHECK(daemon.terminate() == 0);
}

TEST_CASE("with a short queue the rest is refused as busy, and nothing is lost") {
  DaemonProcess daemon{{"MAX_QUEUE", "100"}};
  daemon.start();
  const auto start = Clock::now();
  const Tally tally = storm(daemon, 8);
  tell("short queue", tally, daemon, start);
  CHECK(tally.failures.empty());
  CHECK(tally.answered + tally.busy == kRequests);
  CHECK(tally.answered >= 100);
  CHECK(tally.busy > 0);
  const auto after = daemon.client();
  const auto outcome = after->start(raw("And then?", 4)).wait_for(kPatience);
  REQUIRE(outcome.has_value());
  CHECK(std::holds_alternative<protocol::Result>(*outcome));
  CHECK(daemon.terminate() == 0);
}

TEST_CASE("an idle daemon with a loaded model and a client uses no processor time") {
  DaemonProcess daemon;
  daemon.start();
  const auto client = daemon.client();
  REQUIRE(client->start(raw("Hello", 4)).wait_for(kPatience).has_value());
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const std::uint64_t before = daemon.cpu_ticks();
  std::this_thread::sleep_for(std::chrono::seconds(5));
  const std::uint64_t used = daemon.cpu_ticks() - before;
  MESSAGE("clock ticks of " << sysconf(_SC_CLK_TCK) << " a second in 5 s: " << used);
  CHECK(used <= 1);
  CHECK(daemon.terminate() == 0);
}

}  // namespace
}  // namespace glmhost::integration

#endif
