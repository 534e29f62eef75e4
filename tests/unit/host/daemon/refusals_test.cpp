// Bad input by name: each gets its code and a sentence that says what to do, and the daemon goes on.
#include <doctest/doctest.h>

#include <fstream>
#include <thread>

#include "host/platform/paths.h"
#include "host/platform/process.h"
#include "tests/unit/host/daemon/running_daemon.h"

namespace glmhost::daemon {
namespace {

namespace fs = std::filesystem;

nlohmann::ordered_json conversation(std::initializer_list<std::pair<const char*, const char*>> turns) {
  nlohmann::ordered_json messages = nlohmann::ordered_json::array();
  for (const auto& [role, content] : turns) messages.push_back({{"role", role}, {"content", content}});
  return messages;
}

TEST_CASE("a model that is not there") {
  RunningDaemon host;
  host.start();
  const auto client = host.client();
  Request request = raw("x");
  request.model = "tinny";
  const ErrorMessage unknown = error_of(ask(*client, request));
  CHECK(unknown.code == ErrorCode::no_model);
  CHECK(mentions(unknown.sentence, {"tinny", "tiny"}));
  request.model = platform::to_utf8(host.folder.path() / "nowhere.gguf");
  CHECK(error_of(ask(*client, request)).code == ErrorCode::no_model);
  CHECK(result_of(ask(*client, raw("still here"))).finish_reason == "length");
}

TEST_CASE("files that are no models") {
  RunningDaemon host;
  std::ofstream(host.models() / "text.gguf") << "just some text, nothing else";
  std::ofstream(host.models() / "empty.gguf").close();
  host.add_model("short");
  fs::resize_file(host.models() / "short.gguf", fs::file_size(host.models() / "short.gguf") / 2);
  host.start();
  const auto client = host.client();
  for (const char* name : {"text", "empty", "short"}) {
    CAPTURE(name);
    Request request = raw("x");
    request.model = name;
    const ErrorMessage error = error_of(ask(*client, request));
    CHECK(error.code == ErrorCode::model_load_failed);
    CHECK(error.sentence.size() > 30);
    // Told again at once; the status tells it too.
    CHECK(error_of(ask(*client, request)).sentence == error.sentence);
    CHECK(model_status(*client, name).state == "failed");
    CHECK(model_status(*client, name).note == error.sentence);
  }
  Request request = raw("x");
  request.model = platform::to_utf8(host.models());
  const ErrorMessage folder = error_of(ask(*client, request));
  CHECK((folder.code == ErrorCode::no_model || folder.code == ErrorCode::model_load_failed));
  // A file put right is tried again although the failure is fresh.
  host.add_model("short");
  request.model = "short";
  CHECK(result_of(ask(*client, request)).model == "short");
}

TEST_CASE("prompts that a model cannot take") {
  RunningDaemon host;
  host.start();
  const auto client = host.client();
  std::string long_prompt;
  for (int i = 0; i < 3000; ++i) long_prompt += " 7";
  const ErrorMessage too_long = error_of(ask(*client, raw(long_prompt)));
  CHECK(too_long.code == ErrorCode::too_large);
  CHECK(mentions(too_long.sentence, {"tokens", "2048", "shorten"}));
  CHECK(error_of(ask(*client, raw(""))).code == ErrorCode::bad_request);
  CHECK(error_of(ask(*client, raw(std::string(10'000'000, 'x')))).code == ErrorCode::too_large);
}

TEST_CASE("a base model continues one text, and holds no conversation") {
  RunningDaemon host;
  host.start();
  const auto client = host.client();
  Request request;
  request.max_tokens = 12;
  request.messages = conversation({{"user", "once upon"}});
  const Result continued = result_of(ask(*client, request));
  CHECK(continued.content == result_of(ask(*client, raw("once upon", 12))).content);
  for (const auto& messages : {conversation({{"system", "be short"}, {"user", "hello"}}),
                               conversation({{"user", "a"}, {"assistant", "b"}, {"user", "c"}})}) {
    request.messages = messages;
    const ErrorMessage error = error_of(ask(*client, request));
    CHECK(error.code == ErrorCode::bad_request);
    CHECK(mentions(error.sentence, {"tiny", "base model", "raw prompt"}));
  }
}

TEST_CASE("max_tokens beyond the context ends with the context, and is not kept") {
  RunningDaemon host;
  host.start();
  const auto client = host.client();
  const Result result = result_of(ask(*client, raw("abc", 1'000'000)));
  CHECK(result.finish_reason == "context");
  CHECK(result.usage.prompt_tokens + result.usage.generated_tokens == 2048);
  CHECK_FALSE(result_of(ask(*client, raw("abc", 1'000'000))).from_memo);
}

TEST_CASE("deadlines count while waiting and while running") {
  RunningDaemon host;
  host.settings.max_sequences = 1;
  Daemon& daemon = host.start();
  const auto client = host.client();
  result_of(ask(*client, raw("warm")));
  Request running = raw("long", 2000);
  running.deadline_ms = 1;
  const ErrorMessage late = error_of(ask(*client, running));
  CHECK(late.code == ErrorCode::deadline);
  CHECK(daemon.wait_until_idle(kPatience));
  // A deadline's answer is never kept.
  running.deadline_ms = 600'000;
  CHECK_FALSE(result_of(ask(*client, running)).from_memo);
}

TEST_CASE("more than may be open is refused as busy, and the rest is answered") {
  RunningDaemon host;
  host.settings.max_queue = 8;
  host.settings.max_sequences = 1;
  host.start();
  const auto client = host.client();
  std::vector<Client::Call> calls;
  for (int i = 0; i < 20; ++i) {
    Request request = raw("number " + std::to_string(i), 300);
    request.memo = false;
    calls.push_back(client->start(request));
  }
  int answered = 0, busy = 0;
  for (auto& call : calls) {
    const auto outcome = call.wait_for(kPatience);
    REQUIRE(outcome.has_value());
    if (std::holds_alternative<Result>(*outcome)) {
      ++answered;
    } else {
      ++busy;
      CHECK(error_of(*outcome).code == ErrorCode::busy);
      CHECK(mentions(error_of(*outcome).sentence, {"busy", "again"}));
    }
  }
  CHECK(answered >= 6);  // three quarters for one client
  CHECK(busy > 0);
  CHECK(answered + busy == 20);
  const auto other = host.client();
  CHECK(result_of(ask(*other, raw("afterwards"))).finish_reason == "length");
  CHECK(status_of(*client).queue.refused == static_cast<std::uint64_t>(busy));
}

TEST_CASE("what does not fit into memory is refused with the numbers") {
  RunningDaemon host;
  host.settings.memory_limit = 1u << 20;
  host.start();
  const auto client = host.client();
  const ErrorMessage error = error_of(ask(*client, raw("x")));
  CHECK(error.code == ErrorCode::model_load_failed);
  CHECK(mentions(error.sentence, {"tiny", "needs", "MiB", "memory_limit of 1.0 MiB"}));
}

TEST_CASE("a second daemon is told which process runs already, and the first goes on") {
  RunningDaemon host;
  host.start();
  try {
    const Daemon second(host.options());
    FAIL("a second daemon started");
  } catch (const AlreadyRunning& error) {
    CHECK(error.pid() == platform::process_id());
    CHECK(mentions(error.what(), {"running already", std::to_string(platform::process_id()), "glm stop"}));
  }
  CHECK(result_of(ask(*host.client(), raw("x"))).finish_reason == "length");
}

TEST_CASE("a lock file and a socket left by a killed daemon do not keep the next from starting") {
  RunningDaemon host;
  fs::create_directories(host.runtime());
  std::ofstream(host.runtime() / "daemon.lock") << "999999999";
  std::ofstream(host.runtime() / "host.json") << "{\"half\": ";
  host.start();
  CHECK(result_of(ask(*host.client(), raw("x"))).finish_reason == "length");
}

TEST_CASE("a folder that cannot be used is a sentence") {
  RunningDaemon host;
  std::ofstream(host.runtime()) << "a file";
  CHECK_THROWS_AS(host.start(), CannotStart);
  fs::remove(host.runtime());
  // Without a models folder there are no models, but a path still works.
  host.settings.models_folder = host.models() / "tiny.gguf" / "models";
  host.start();
  const auto client = host.client();
  CHECK(error_of(ask(*client, raw("x"))).code == ErrorCode::no_model);
  Request by_path = raw("x");
  by_path.model = platform::to_utf8(host.models() / "tiny.gguf");
  CHECK(result_of(ask(*client, by_path)).finish_reason != "");
}

}  // namespace
}  // namespace glmhost::daemon
