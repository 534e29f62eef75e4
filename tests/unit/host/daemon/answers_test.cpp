// What a client gets: text, deltas, kept answers, shared answers.
#include <doctest/doctest.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <mutex>
#include <vector>

#include "tests/unit/host/daemon/running_daemon.h"

namespace glmhost::daemon {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_CASE("a raw prompt is answered, and the deltas are the answer") {
  RunningDaemon host;
  host.start();
  const auto client = host.client();
  std::string streamed;
  std::atomic<int> accepted{0};
  protocol::RequestCallbacks callbacks;
  callbacks.on_accepted = [&](const protocol::Accepted& message) {
    ++accepted;
    CHECK(message.model == "tiny");
  };
  callbacks.on_delta = [&](const protocol::Delta& delta) { streamed += delta.content; };
  const auto outcome = client->start(raw("hello world", 40), callbacks).wait_for(kPatience);
  REQUIRE(outcome.has_value());
  const Result result = result_of(*outcome);
  CHECK(accepted == 1);
  CHECK(streamed == result.content);
  CHECK_FALSE(result.content.empty());
  CHECK(result.reasoning.empty());
  CHECK(result.finish_reason == "length");
  CHECK(result.model == "tiny");
  CHECK_FALSE(result.from_memo);
  CHECK(result.usage.generated_tokens == 40);
  CHECK(result.usage.prompt_tokens > 0);

  const protocol::ModelStatus status = model_status(*client, "tiny");
  CHECK(status.state == "loaded");
  CHECK(status.architecture == "llama");
  CHECK(status.context_tokens == 2048);
  CHECK(status.memory_bytes > status.file_bytes);
  CHECK(status_of(*client).queue.answered == 1);
}

TEST_CASE("an equal request is answered from the store, without the model, also by the next daemon") {
  RunningDaemon host;
  Daemon* daemon = &host.start();
  Request request = raw("once upon a time", 24);
  request.temperature = 0.8f;
  request.seed = 5;
  request.logprobs = 3;
  std::vector<std::vector<protocol::TokenProbability>> first, second;
  protocol::RequestCallbacks callbacks;
  callbacks.on_delta = [&](const protocol::Delta& delta) {
    first.insert(first.end(), delta.logprobs.begin(), delta.logprobs.end());
  };
  const auto outcome = host.client()->start(request, callbacks).wait_for(kPatience);
  REQUIRE(outcome.has_value());
  const Result computed = result_of(*outcome);
  const auto tokens = daemon->counters().generated_tokens;
  CHECK(tokens == 24);

  const auto client = host.client();
  const Result kept = result_of(ask(*client, request));
  CHECK(kept.from_memo);
  CHECK(kept.content == computed.content);
  CHECK(kept.finish_reason == computed.finish_reason);
  CHECK(kept.usage.generated_tokens == computed.usage.generated_tokens);
  CHECK(daemon->counters().generated_tokens == tokens);

  daemon = &host.start();
  callbacks.on_delta = [&](const protocol::Delta& delta) {
    second.insert(second.end(), delta.logprobs.begin(), delta.logprobs.end());
  };
  const auto again = host.client()->start(request, callbacks).wait_for(kPatience);
  REQUIRE(again.has_value());
  CHECK(result_of(*again).from_memo);
  CHECK(result_of(*again).content == computed.content);
  CHECK(daemon->counters().loads == 0);
  REQUIRE(first.size() == 24);
  CHECK(first[0].size() == 3);
  CHECK(first == second);

  // Anything that matters makes it another request.
  const auto fresh = host.client();
  for (int change = 0; change < 5; ++change) {
    CAPTURE(change);
    Request other = request;
    if (change == 0) other.seed = 6;
    if (change == 1) other.temperature = 0.9f;
    if (change == 2) other.max_tokens = 23;
    if (change == 3) other.stop = {"zzz"};
    if (change == 4) other.prompt = "once upon a time ";
    CHECK_FALSE(result_of(ask(*fresh, other)).from_memo);
  }
  // What does not matter does not: the seed of a greedy answer.
  Request greedy = raw("greedy");
  CHECK_FALSE(result_of(ask(*fresh, greedy)).from_memo);
  greedy.seed = 99;
  CHECK(result_of(ask(*fresh, greedy)).from_memo);
  greedy.memo = false;
  CHECK_FALSE(result_of(ask(*fresh, greedy)).from_memo);
}

TEST_CASE("twenty equal requests of four clients cost one computation, and each gets all of it") {
  RunningDaemon host;
  Daemon& daemon = host.start();
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(host.client());
  const Request request = raw("the same for all", 100);
  std::vector<Client::Call> calls;
  std::vector<std::string> streamed(20);
  for (std::size_t i = 0; i < 20; ++i) {
    protocol::RequestCallbacks callbacks;
    callbacks.on_delta = [&streamed, i](const protocol::Delta& delta) { streamed[i] += delta.content; };
    calls.push_back(clients[i % 4]->start(request, callbacks));
  }
  std::string content;
  for (std::size_t i = 0; i < 20; ++i) {
    const auto outcome = calls[i].wait_for(kPatience);
    REQUIRE(outcome.has_value());
    const Result result = result_of(*outcome);
    if (i == 0) content = result.content;
    CHECK(result.content == content);
    CHECK(streamed[i] == content);
  }
  CHECK(daemon.counters().generated_tokens == 100);
  const protocol::QueueStatus queue = status_of(*clients[0]).queue;
  CHECK(queue.answered == 20);
  CHECK(queue.coalesced + queue.from_memo == 19);
}

TEST_CASE("of requests that share an answer, one may be cancelled without harm to the others") {
  RunningDaemon host;
  Daemon& daemon = host.start();
  const auto one = host.client(), two = host.client();
  const Request request = raw("shared", 1500);
  auto first = one->start(request);
  auto second = two->start(request);
  first.cancel();
  const auto cancelled = first.wait_for(kPatience);
  REQUIRE(cancelled.has_value());
  CHECK(error_of(*cancelled).code == ErrorCode::cancelled);
  const auto outcome = second.wait_for(kPatience);
  REQUIRE(outcome.has_value());
  Request alone = request;
  alone.memo = false;
  CHECK(result_of(*outcome).content == result_of(ask(*one, alone)).content);
  CHECK(daemon.wait_until_idle(kPatience));
}

TEST_CASE("an interactive request that joins a batch answer gets it as one text, from its beginning") {
  RunningDaemon host;
  host.start();
  const auto one = host.client(), two = host.client();
  Request request = raw("joined", 1800);
  request.priority = protocol::Priority::batch;
  request.credits = 10'000;
  std::string batch_text, joined_text;
  std::atomic<bool> begun{false};
  protocol::RequestCallbacks callbacks;
  callbacks.on_delta = [&](const protocol::Delta& delta) {
    batch_text += delta.content;
    begun = true;
    begun.notify_all();
  };
  auto batch = one->start(request, callbacks);
  begun.wait(false);
  request.priority = protocol::Priority::interactive;
  callbacks.on_delta = [&](const protocol::Delta& delta) { joined_text += delta.content; };
  auto joined = two->start(request, callbacks);
  const auto a = batch.wait_for(kPatience), b = joined.wait_for(kPatience);
  REQUIRE(a.has_value());
  REQUIRE(b.has_value());
  CHECK(result_of(*a).content == result_of(*b).content);
  CHECK(batch_text == result_of(*a).content);
  CHECK(joined_text == result_of(*b).content);
  Request alone = request;
  alone.memo = false;
  CHECK(result_of(ask(*one, alone)).content == batch_text);
}

TEST_CASE("without credits there is only the result; with one, the rest is joined") {
  RunningDaemon host;
  host.start();
  const auto client = host.client();
  std::atomic<int> deltas{0};
  protocol::RequestCallbacks callbacks;
  callbacks.on_delta = [&](const protocol::Delta&) { ++deltas; };
  Request request = raw("quiet", 60);
  request.credits = 0;
  const auto outcome = client->start(request, callbacks).wait_for(kPatience);
  REQUIRE(outcome.has_value());
  CHECK_FALSE(result_of(*outcome).content.empty());
  CHECK(deltas == 0);
}

TEST_CASE("the answer does not depend on what else runs") {
  RunningDaemon host;
  host.start();
  const auto client = host.client();
  Request request = raw("company", 80);
  request.temperature = 1;
  request.seed = 3;
  request.memo = false;
  const std::string alone = result_of(ask(*client, request)).content;
  std::vector<Client::Call> others;
  for (int i = 0; i < 8; ++i) others.push_back(client->start(raw("other " + std::to_string(i), 200)));
  CHECK(result_of(ask(*client, request)).content == alone);
  for (auto& call : others) CHECK(call.wait_for(kPatience).has_value());
}

TEST_CASE("the log holds no prompt and no answer") {
  RunningDaemon host;
  host.start();
  const auto client = host.client();
  const Result result = result_of(ask(*client, raw("my secret recipe for soup", 60)));
  Request refused;
  refused.messages = nlohmann::ordered_json::array({{{"role", "secretrole"}, {"content", "my secret recipe"}}});
  error_of(ask(*client, refused));
  host.daemon.reset();
  const std::string log = read_file(host.log_file());
  CHECK(log.find("tiny") != std::string::npos);
  CHECK(log.find("secret") == std::string::npos);
  REQUIRE(result.content.size() > 20);
  CHECK(log.find(result.content.substr(0, 20)) == std::string::npos);
#ifndef _WIN32
  const fs::perms others = fs::perms::group_all | fs::perms::others_all;
  CHECK((fs::status(host.log_file()).permissions() & others) == fs::perms::none);
#endif
}

TEST_CASE("a memo store that cannot be written costs nothing but the memory") {
  RunningDaemon host;
  std::ofstream(host.folder.path() / "data") << "a file where the folder should be";
  Daemon& daemon = host.start();
  const auto client = host.client();
  CHECK_FALSE(result_of(ask(*client, raw("kept nowhere"))).from_memo);
  CHECK_FALSE(result_of(ask(*client, raw("kept nowhere"))).from_memo);
  CHECK(mentions(daemon.memo_problem(), {"not kept"}));
}

TEST_CASE("with the memo switched off equal requests still share an answer, and nothing is written") {
  RunningDaemon host;
  host.settings.memo = false;
  Daemon& daemon = host.start();
  const auto client = host.client();
  auto one = client->start(raw("twice", 1000));
  auto two = client->start(raw("twice", 1000));
  REQUIRE(one.wait_for(kPatience).has_value());
  REQUIRE(two.wait_for(kPatience).has_value());
  CHECK_FALSE(result_of(ask(*client, raw("twice", 1000))).from_memo);
  CHECK(daemon.counters().generated_tokens <= 3000);
  CHECK_FALSE(fs::exists(host.folder.path() / "data" / "memo.sqlite"));
}

}  // namespace
}  // namespace glmhost::daemon
