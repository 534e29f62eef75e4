// The daemon killed with -9 at random moments: what a client was told is finished is there afterwards, and the next
// daemon starts and answers.
#ifndef _WIN32

#include <algorithm>
#include <map>
#include <mutex>

#include "tests/integration/daemon_process.h"
#include "tests/unit/sanitizers.h"

namespace glmhost::integration {
namespace {

// With a sanitizer each life takes seconds.
constexpr int kLives = test::kSanitized ? 10 : 100;

TEST_CASE("killed with -9 at a hundred random moments, no finished answer is lost") {
  DaemonProcess daemon{{"MAX_SEQUENCES", "8"}};
  std::mt19937 random(2024);
  std::mutex mutex;
  std::map<std::string, std::string> finished;  // prompt to answer, over all lives of the daemon
  std::size_t lost = 0, checked = 0, begun = 0;
  for (int life = 0; life < kLives; ++life) {
    daemon.start();
    {
      const auto client = daemon.client();
      // What finished in earlier lives; all of it would take longer with each life.
      std::vector<std::pair<std::string, std::string>> sample;
      {
        const std::lock_guard lock(mutex);
        sample.assign(finished.begin(), finished.end());
      }
      std::shuffle(sample.begin(), sample.end(), random);
      if (life + 1 < kLives && sample.size() > 40) sample.resize(40);
      for (const auto& [prompt, content] : sample) {
        const auto outcome = client->start(raw(prompt, 12)).wait_for(kPatience);
        REQUIRE(outcome.has_value());
        const auto* result = std::get_if<protocol::Result>(&*outcome);
        REQUIRE(result != nullptr);
        ++checked;
        if (!result->from_memo || result->content != content) ++lost;
      }
      // Half of the lives end at any moment, also while the model is being loaded; the others after some answers.
      const bool at_any_moment = life % 2 == 0;
      std::size_t wanted = 0;
      {
        const std::lock_guard lock(mutex);
        wanted = finished.size() + random() % 20;
      }
      std::vector<protocol::Client::Call> calls;
      for (int i = 0; i < 40; ++i, ++begun) {
        const std::string prompt = "Tell me about " + std::to_string(begun);
        protocol::RequestCallbacks callbacks;
        callbacks.on_done = [&, prompt](const protocol::Outcome& outcome) {
          if (const auto* result = std::get_if<protocol::Result>(&outcome)) {
            const std::lock_guard lock(mutex);
            finished[prompt] = result->content;
          }
        };
        calls.push_back(client->start(raw(prompt, 12), callbacks));
      }
      const auto enough = [&] {
        const std::lock_guard lock(mutex);
        return at_any_moment || finished.size() >= wanted;
      };
      while (!enough()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      std::this_thread::sleep_for(std::chrono::microseconds(random() % (at_any_moment ? 600'000 : 30'000)));
      daemon.kill_now();
    }
  }
  MESSAGE(finished.size() << " of " << begun << " requests finished over " << kLives << " lives; " << checked
                          << " looked up again, " << lost << " lost");
  CHECK(lost == 0);
  CHECK(finished.size() > static_cast<std::size_t>(kLives));
  daemon.start();
  const auto outcome = daemon.client()->start(raw("And the next one works?", 4)).wait_for(kPatience);
  REQUIRE(outcome.has_value());
  CHECK(std::holds_alternative<protocol::Result>(*outcome));
  CHECK(daemon.terminate() == 0);
  CHECK_FALSE(fs::exists(daemon.home() / "data" / "memo.sqlite.damaged"));
}

}  // namespace
}  // namespace glmhost::integration

#endif
