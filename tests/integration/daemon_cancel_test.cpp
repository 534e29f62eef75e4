// How soon the engine is free after a cancel, and after a client's death. The numbers are told; what is checked is that
// the engine does come free, since times depend on the machine.
#ifndef _WIN32

#include <algorithm>
#include <optional>

#include "host/daemon/daemon.h"
#include "tests/integration/daemon_process.h"

namespace glmhost::integration {
namespace {

class InThisProcess {
 public:
  InThisProcess() : home_(fs::temp_directory_path() / ("glm-cancel-" + std::to_string(std::random_device{}()))) {
    daemon::DaemonOptions options;
    options.settings.default_model = test_model().file.string();
    options.settings.models_folder = home_ / "models";
    options.settings.log_level = settings::LogLevel::warning;
    options.runtime_folder = home_ / "run";
    options.data_folder = home_ / "data";
    options.state_folder = home_ / "state";
    daemon_.emplace(options);
  }
  ~InThisProcess() {
    daemon_.reset();
    std::error_code ignored;
    fs::remove_all(home_, ignored);
  }
  daemon::Daemon& operator*() { return *daemon_; }
  daemon::Daemon* operator->() { return &*daemon_; }
  const fs::path& home() const { return home_; }
  std::unique_ptr<protocol::Client> client() const {
    protocol::ClientOptions options;
    options.runtime_folder = home_ / "run";
    return std::make_unique<protocol::Client>(options);
  }

  // Milliseconds until nothing is computed any more, and the forward passes that were completed after `cancel`.
  template <class Cancel>
  std::pair<double, std::uint64_t> time_to_idle(const Cancel& cancel) {
    const std::uint64_t steps = daemon_->counters().steps;
    const auto start = Clock::now();
    cancel();
    REQUIRE(daemon_->wait_until_idle(kPatience));
    const double took = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    return {took, daemon_->counters().steps - steps};
  }

 private:
  fs::path home_;
  std::optional<daemon::Daemon> daemon_;
};

void tell(const std::string& what, std::vector<std::pair<double, std::uint64_t>> measured) {
  REQUIRE(measured.size() == 100);
  std::sort(measured.begin(), measured.end());
  std::uint64_t most_steps = 0;
  for (const auto& one : measured) most_steps = std::max(most_steps, one.second);
  MESSAGE(what << ": median " << measured[50].first << " ms, 99 of 100 within " << measured[98].first << " ms, all "
               << "within " << measured[99].first << " ms; at most " << most_steps << " passes completed after it");
}

std::string long_text(std::size_t words) {
  std::string text;
  for (std::size_t i = 0; i < words; ++i) text += " seven" + std::to_string(i % 10);
  return text;
}

// Until the engine has computed something for the request at hand.
void wait_for_work(daemon::Daemon& daemon, const daemon::Daemon::Counters& before, bool generated) {
  for (;;) {
    const auto now = daemon.counters();
    if (generated ? now.generated_tokens > before.generated_tokens + 2 : now.prompt_tokens > before.prompt_tokens)
      return;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

TEST_CASE("a cancel frees the engine, in an answer and in a long prompt") {
  InThisProcess host;
  const auto client = host.client();
  REQUIRE(client->start(raw("warm", 4)).wait_for(kPatience).has_value());
  const std::string long_prompt = long_text(test_model().real ? 1800 : 350);
  for (const bool in_prompt : {false, true}) {
    std::vector<std::pair<double, std::uint64_t>> measured;
    for (int i = 0; measured.size() < 100 && i < 400; ++i) {
      const auto before = host->counters();
      const std::string prompt = std::to_string(i) + (in_prompt ? long_prompt : " an answer");
      auto call = client->start(raw(prompt, 1500));
      wait_for_work(*host, before, !in_prompt);
      const auto [took, steps] = host.time_to_idle([&] { call.cancel(); });
      const auto outcome = call.wait_for(kPatience);
      REQUIRE(outcome.has_value());
      if (std::holds_alternative<protocol::Result>(*outcome)) continue;  // it was done before
      CHECK(std::get<protocol::ErrorMessage>(*outcome).code == protocol::ErrorCode::cancelled);
      measured.emplace_back(took, steps);
    }
    tell(in_prompt ? "cancel in a long prompt" : "cancel in an answer", measured);
  }
}

TEST_CASE("a client killed with -9 frees the engine") {
  InThisProcess host;
  REQUIRE(host.client()->start(raw("warm", 4)).wait_for(kPatience).has_value());
  const std::string program = platform::executable_path().string();
  for (const bool in_prompt : {false, true}) {
    std::vector<std::pair<double, std::uint64_t>> measured;
    for (int i = 0; measured.size() < 100 && i < 400; ++i) {
      const auto before = host->counters();
      const std::string prompt =
          std::to_string(i) + (in_prompt ? long_text(test_model().real ? 1800 : 350) : " answer");
      const pid_t child = fork();
      REQUIRE(child >= 0);
      if (child == 0) {
        setenv("GLM_HOST_HOME", host.home().c_str(), 1);
        execl(program.c_str(), program.c_str(), "--ask", prompt.c_str(), static_cast<char*>(nullptr));
        _exit(127);
      }
      wait_for_work(*host, before, !in_prompt);
      const auto [took, steps] = host.time_to_idle([&] { kill(child, SIGKILL); });
      waitpid(child, nullptr, 0);
      measured.emplace_back(took, steps);
    }
    tell(in_prompt ? "client killed in a long prompt" : "client killed in an answer", measured);
  }
}

}  // namespace
}  // namespace glmhost::integration

#endif
