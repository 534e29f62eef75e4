// On the default model, where GLM_TEST_MODELS names the folder that has it.
#include <doctest/doctest.h>

#include <cstdlib>
#include <thread>

#include "tests/unit/host/daemon/running_daemon.h"

namespace glmhost::daemon {
namespace {

namespace fs = std::filesystem;

std::optional<fs::path> real_model() {
  const char* folder = std::getenv("GLM_TEST_MODELS");
  if (folder == nullptr) return std::nullopt;
  const fs::path file = fs::path(folder) / "SmolLM2-135M-Instruct.Q4_1.gguf";
  return fs::exists(file) ? std::optional(file) : std::nullopt;
}

Request chat(const std::string& text, std::int32_t max_tokens) {
  Request request;
  request.messages = nlohmann::ordered_json::array({{{"role", "user"}, {"content", text}}});
  request.max_tokens = max_tokens;
  return request;
}

TEST_CASE("the default model holds a conversation") {
  const auto model = real_model();
  if (!model) {
    MESSAGE("skipped: GLM_TEST_MODELS names no folder with SmolLM2-135M-Instruct.Q4_1.gguf");
    return;
  }
  RunningDaemon host;
  fs::create_symlink(*model, host.models() / "smollm2-135m.gguf");
  host.settings.default_model = "smollm2-135m";
  host.settings.kv_bytes = 0;
  Daemon& daemon = host.start();
  const auto client = host.client();
  std::string streamed;
  protocol::RequestCallbacks callbacks;
  callbacks.on_delta = [&](const protocol::Delta& delta) { streamed += delta.content; };
  const auto outcome = client->start(chat("What is 2+2?", 40), callbacks).wait_for(kPatience);
  REQUIRE(outcome.has_value());
  const Result result = result_of(*outcome);
  CHECK(result.content.find("4") != std::string::npos);
  CHECK(result.finish_reason == "stop");
  CHECK(streamed == result.content);
  const protocol::ModelStatus status = model_status(*client, "smollm2-135m");
  CHECK(status.chat_template == "model file");
  CHECK(status.context_tokens == 8192);

  // Cancelled in the middle of a long prompt: the rest of it is never computed.
  std::string text = "Summarise:";
  for (int i = 0; i < 2500; ++i) text += " word" + std::to_string(i % 7);
  const auto before = daemon.counters().prompt_tokens;
  auto call = client->start(chat(text, 10));
  while (daemon.counters().prompt_tokens == before) std::this_thread::yield();
  call.cancel();
  const auto cancelled = call.wait_for(kPatience);
  REQUIRE(cancelled.has_value());
  CHECK(error_of(*cancelled).code == ErrorCode::cancelled);
  REQUIRE(daemon.wait_until_idle(kPatience));
  CHECK(daemon.counters().prompt_tokens - before < 2500);
}

}  // namespace
}  // namespace glmhost::daemon
