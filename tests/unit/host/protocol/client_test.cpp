#include "host/protocol/client.h"

#include <doctest/doctest.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "host/platform/file_lock.h"
#include "host/platform/paths.h"
#include "host/platform/process.h"
#include "host/protocol/server_socket.h"
#include "tests/unit/host/platform/temporary_folder.h"
#include "tests/unit/host/protocol/echo_daemon.h"

using namespace glmhost;
using namespace glmhost::protocol;
using namespace std::chrono_literals;
using test::EchoDaemon;
using test::TemporaryFolder;

namespace {

Request ask(const std::string& prompt, std::int32_t tokens = 10, std::uint32_t credits = 64) {
  Request request;
  request.prompt = prompt;
  request.max_tokens = tokens;
  request.credits = credits;
  return request;
}

std::string numbers(int end) {
  std::string text;
  for (int i = 0; i < end; ++i) text += std::to_string(i) + " ";
  return text;
}

ClientOptions options_for(const TemporaryFolder& folder) {
  ClientOptions options;
  options.program = "test";
  options.runtime_folder = folder.path();
  return options;
}

ErrorMessage error_of(const Outcome& outcome) {
  const auto* const error = std::get_if<ErrorMessage>(&outcome);
  REQUIRE(error != nullptr);
  return *error;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a request over ipc and over tcp: accepted, deltas in order, result") {
  for (const char* address : {"ipc", "tcp://127.0.0.1:0", "tcp://[::1]:0"}) {
    INFO(std::string(address));
    TemporaryFolder folder;
    EchoDaemon daemon(folder.path(), address);
    Client client(options_for(folder));
    std::string events;
    std::string streamed;
    Client::Call call = client.start(
        ask("x", 100), {
                           .on_accepted = [&](const Accepted& accepted) { events += "accepted by " + accepted.model; },
                           .on_delta = [&](const Delta& delta) { streamed += delta.content; },
                           .on_done = [&](const Outcome&) { events += ", done"; },
                       });
    const Outcome outcome = call.wait();
    REQUIRE(std::holds_alternative<Result>(outcome));
    CHECK(std::get<Result>(outcome).content == numbers(100));
    CHECK(std::get<Result>(outcome).usage.generated_tokens == 100);
    CHECK(streamed == numbers(100));
    CHECK(events == "accepted by echo, done");
    const auto seen = daemon.seen();
    REQUIRE(seen.hellos.size() == 1);
    CHECK(seen.hellos[0].program == "test");
    CHECK(seen.hellos[0].version == GLMHOST_VERSION);
    REQUIRE(seen.requests.size() == 1);
    CHECK(seen.requests[0] == ask("x", 100));
  }
}

TEST_CASE("no daemon: the answer says so and what to do, for every kind of call") {
  TemporaryFolder folder;
  Client client(options_for(folder));
  bool told = false;
  const ErrorMessage error = error_of(client.start(ask("x"), {.on_done = [&](const Outcome&) { told = true; }}).wait());
  CHECK(error.code == ErrorCode::backend_failed);
  CHECK(has(error.sentence, "The GLM daemon is not running. Start it with `glm serve`"));
  CHECK(told);
  CHECK(std::get<ErrorMessage>(client.status()).sentence == error.sentence);
  CHECK(error_of(client.control({}, 3s)).sentence == error.sentence);
}

TEST_CASE("a client waits for a daemon no longer than for its first start: the next request finds it") {
  TemporaryFolder folder;
  Client client(options_for(folder));
  CHECK(error_of(client.start(ask("x")).wait()).code == ErrorCode::backend_failed);
  EchoDaemon daemon(folder.path());
  CHECK(std::holds_alternative<Result>(client.start(ask("x")).wait()));
}

TEST_CASE("a daemon that lives but refuses connections for a while is tried again, though not for ever") {
  TemporaryFolder folder;
  platform::make_private_folder(folder.path());
  const auto lock = platform::FileLock::try_acquire(lock_file(folder.path()));
  REQUIRE(lock.has_value());
  Endpoint endpoint;
  endpoint.address = "ipc://" + (folder.path() / "daemon.sock").string();
  endpoint.pid = platform::process_id();
  endpoint.protocol_version = kProtocolVersion;
  write_endpoint(folder.path(), endpoint);

  ClientOptions impatient = options_for(folder);
  impatient.connect_timeout = 300ms;
  CHECK(has(error_of(Client(impatient).start(ask("x")).wait()).sentence, "did not answer within 300 ms"));

  Client client(options_for(folder));
  const Client::Call call = client.start(ask("kept"));
  std::this_thread::sleep_for(200ms);
  ServerSocket socket({folder.path(), "ipc", "test"}, *lock);
  std::vector<std::string> asked;
  for (int i = 0; asked.empty() && i < 200; ++i) {
    for (const ServerEvent& event : socket.poll(100ms)) {
      const auto* incoming = std::get_if<Incoming>(&event);
      if (incoming == nullptr) continue;
      if (const auto* request = std::get_if<Request>(&incoming->envelope.message)) asked.push_back(*request->prompt);
    }
  }
  CHECK(asked == std::vector<std::string>{"kept"});
}

TEST_CASE("status and control") {
  TemporaryFolder folder;
  EchoDaemon daemon(folder.path());
  Client client(options_for(folder));
  const auto status = client.status();
  REQUIRE(std::holds_alternative<Status>(status));
  CHECK(std::get<Status>(status).endpoint == daemon.endpoint().address);
  CHECK(std::holds_alternative<Result>(client.control({Control::Action::load_model, "echo"}, 5s)));
  CHECK(error_of(client.control({Control::Action::load_model, "none"}, 5s)) ==
        ErrorMessage{ErrorCode::no_model, "There is no model \"none\"."});
}

TEST_CASE("a request that breaks a rule gets the daemon's sentence") {
  TemporaryFolder folder;
  EchoDaemon daemon(folder.path());
  Client client(options_for(folder));
  Request request = ask("x");
  request.temperature = -1;
  const ErrorMessage error = error_of(client.start(request).wait());
  CHECK(error.code == ErrorCode::bad_request);
  CHECK(has(error.sentence, "\"temperature\""));
  CHECK(error_of(client.start(ask("\xFF")).wait()).code == ErrorCode::bad_request);
  CHECK(error_of(client.start(Request{}).wait()).code == ErrorCode::bad_request);
  CHECK(daemon.wait_until([](const EchoDaemon::Seen& seen) { return seen.malformed.size() == 3; }));
  CHECK(std::holds_alternative<Result>(client.start(ask("x")).wait()));
}

TEST_CASE("a prompt of 10 MB goes through, one over the limit is refused here") {
  TemporaryFolder folder;
  EchoDaemon daemon(folder.path());
  Client client(options_for(folder));
  CHECK(std::holds_alternative<Result>(client.start(ask(std::string(10u << 20, 'x'))).wait()));
  CHECK(daemon.seen().requests[0].prompt->size() == 10u << 20);
  CHECK(error_of(client.start(ask(std::string(kMaxBodyBytes, 'x'))).wait()).code == ErrorCode::too_large);
  CHECK(std::holds_alternative<Result>(client.start(ask("x")).wait()));
}

TEST_CASE("many threads, many requests on one client") {
  TemporaryFolder folder;
  EchoDaemon daemon(folder.path());
  Client client(options_for(folder));
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      std::vector<std::string> streamed(20);
      std::vector<Client::Call> calls;
      for (int i = 0; i < 20; ++i) {
        calls.push_back(
            client.start(ask("x", 5 + thread + i, static_cast<std::uint32_t>(i)),
                         {.on_delta = [&streamed, i](const Delta& delta) { streamed[i] += delta.content; }}));
      }
      for (int i = 0; i < 20; ++i) {
        const Outcome outcome = calls[i].wait();
        const auto* result = std::get_if<Result>(&outcome);
        if (result == nullptr || result->content != numbers(5 + thread + i)) ++wrong;
        if (streamed[i] != (i == 0 ? "" : numbers(5 + thread + i))) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(daemon.seen().requests.size() == 160);
  CHECK(daemon.seen().hellos.size() == 1);
}

TEST_CASE("many clients at once") {
  TemporaryFolder folder;
  EchoDaemon daemon(folder.path());
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 16; ++thread) {
    threads.emplace_back([&] {
      Client client(options_for(folder));
      for (int i = 0; i < 5; ++i) right += std::holds_alternative<Result>(client.start(ask("x")).wait());
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(right == 80);
  CHECK(daemon.wait_until([](const EchoDaemon::Seen& seen) { return seen.gone == 16; }));
}

TEST_CASE("credits: a slow reader gets few, larger deltas, and all of the text") {
  TemporaryFolder folder;
  EchoDaemon daemon(folder.path());
  Client client(options_for(folder));
  std::string streamed;
  int deltas = 0;
  const Outcome outcome = client
                              .start(ask("x", 20'000, 4), {.on_delta =
                                                               [&](const Delta& delta) {
                                                                 streamed += delta.content;
                                                                 if (++deltas <= 20) std::this_thread::sleep_for(2ms);
                                                               }})
                              .wait();
  REQUIRE(std::holds_alternative<Result>(outcome));
  CHECK(std::get<Result>(outcome).content == numbers(20'000));
  CHECK(streamed == numbers(20'000));
  const auto seen = daemon.seen();
  CHECK(seen.deltas < 10'000);
  CHECK(deltas >= static_cast<int>(seen.deltas));  // and the rest with the result
  CHECK(deltas <= static_cast<int>(seen.deltas) + 1);
  CHECK(seen.credits > 0);
  CHECK(seen.deltas <= 4 + 2 * seen.credits);  // what was granted; this client gives two back at a time
}

TEST_CASE("with one credit the stream goes on too, with none there is only the result") {
  TemporaryFolder folder;
  EchoDaemon daemon(folder.path());
  Client client(options_for(folder));
  int deltas = 0;
  const Client::Callbacks callbacks{.on_delta = [&](const Delta&) { ++deltas; }};
  CHECK(std::holds_alternative<Result>(client.start(ask("wait", 30, 1), callbacks).wait()));
  CHECK(deltas > 1);
  deltas = 0;
  CHECK(std::holds_alternative<Result>(client.start(ask("wait", 30, 0), callbacks).wait()));
  CHECK(deltas == 0);
}

TEST_CASE("cancel: the outcome comes at once, the daemon hears of it, nothing comes afterwards") {
  TemporaryFolder folder;
  EchoDaemon daemon(folder.path());
  Client client(options_for(folder));
  std::atomic<int> done = 0;
  std::atomic<bool> finished = false;
  std::atomic<int> late = 0;
  Client::Call call = client.start(ask("wait", 1'000'000), {.on_delta = [&](const Delta&) { late += finished.load(); },
                                                            .on_done =
                                                                [&](const Outcome&) {
                                                                  ++done;
                                                                  finished = true;
                                                                }});
  REQUIRE(daemon.wait_until([](const EchoDaemon::Seen& seen) { return seen.deltas > 3; }));
  CHECK(!call.wait_for(1ms));
  call.cancel();
  CHECK(error_of(call.wait()) == ErrorMessage{ErrorCode::cancelled, "The request was cancelled."});
  CHECK(daemon.wait_until([](const EchoDaemon::Seen& seen) { return seen.cancels == 1; }));
  call.cancel();
  CHECK(std::holds_alternative<Result>(client.start(ask("x")).wait()));
  CHECK(done == 1);
  CHECK(late == 0);
  CHECK(std::get<Status>(client.status()).queue.running == 0);
}

TEST_CASE("cancel after the result changes nothing, and cancel before the connection stands works") {
  TemporaryFolder folder;
  EchoDaemon daemon(folder.path());
  Client client(options_for(folder));
  Client::Call early = client.start(ask("never"));
  early.cancel();
  CHECK(error_of(early.wait()).code == ErrorCode::cancelled);
  Client::Call call = client.start(ask("x"));
  CHECK(std::holds_alternative<Result>(call.wait()));
  call.cancel();
  CHECK(std::holds_alternative<Result>(call.wait()));
}

TEST_CASE("a deadline ends a request also when the daemon says nothing") {
  TemporaryFolder folder;
  EchoDaemon daemon(folder.path());
  ClientOptions options = options_for(folder);
  options.deadline_grace = 10ms;
  Client client(options);
  REQUIRE(std::holds_alternative<Status>(client.status(20s)));  // so that the request is sent, however slow we are
  Request request = ask("silence");
  request.deadline_ms = 50;
  const ErrorMessage error = error_of(client.start(request).wait());
  CHECK(error.code == ErrorCode::deadline);
  CHECK(has(error.sentence, "50 ms"));
  CHECK(daemon.wait_until([](const EchoDaemon::Seen& seen) { return seen.cancels == 1; }));
}

TEST_CASE("destroying a client cancels what is open, and handles may outlive it") {
  TemporaryFolder folder;
  EchoDaemon daemon(folder.path());
  std::vector<Client::Call> calls;
  int done = 0;
  {
    Client client(options_for(folder));
    for (int i = 0; i < 3; ++i)
      calls.push_back(client.start(ask("never"), {.on_done = [&](const Outcome&) { ++done; }}));
    REQUIRE(daemon.wait_until([](const EchoDaemon::Seen& seen) { return seen.requests.size() == 3; }));
  }
  CHECK(done == 3);
  for (auto& call : calls) {
    CHECK(error_of(call.wait()).code == ErrorCode::cancelled);
    call.cancel();
  }
  CHECK(daemon.wait_until([](const EchoDaemon::Seen& seen) { return seen.gone == 1; }));
}

TEST_CASE("callbacks may start and cancel requests, and destroy the client") {
  TemporaryFolder folder;
  EchoDaemon daemon(folder.path());
  auto client = std::make_unique<Client>(options_for(folder));
  std::mutex mutex;
  std::condition_variable changed;
  std::string steps;
  const auto step = [&](const char* text) {
    const std::lock_guard lock(mutex);
    steps += text;
    changed.notify_all();
  };
  Client::Call second;
  client->start(ask("x"), {.on_done = [&](const Outcome&) {
                  step("first ");
                  second = client->start(ask("never"), {.on_accepted = [&](const Accepted&) { second.cancel(); },
                                                        .on_done =
                                                            [&](const Outcome&) {
                                                              step("second ");
                                                              client.reset();
                                                              step("destroyed");
                                                            }});
                }});
  std::unique_lock lock(mutex);
  CHECK(changed.wait_for(lock, 20s, [&] { return steps == "first second destroyed"; }));
  lock.unlock();
  CHECK(error_of(second.wait()).code == ErrorCode::cancelled);
  CHECK(daemon.wait_until([](const EchoDaemon::Seen& seen) { return seen.gone == 1; }));
}

TEST_CASE("a daemon that stops and one that starts again") {
  TemporaryFolder folder;
  Client client(options_for(folder));
  for (const char* address : {"ipc", "tcp://127.0.0.1:0", "ipc", "ipc"}) {
    Client::Call open;
    {
      EchoDaemon daemon(folder.path(), address);
      CHECK(std::holds_alternative<Result>(client.start(ask("x")).wait()));
      open = client.start(ask("never"));
      REQUIRE(daemon.wait_until([](const EchoDaemon::Seen& seen) { return seen.requests.size() == 2; }));
    }
    const ErrorMessage error = error_of(open.wait());
    CHECK(error.code == ErrorCode::backend_failed);
    CHECK(has(error.sentence, "went away before it had answered"));
    CHECK(has(error_of(client.start(ask("x")).wait()).sentence, "is not running"));
  }
}

TEST_CASE("a daemon of another protocol version is named with its version before anything is sent") {
  TemporaryFolder folder;
  EchoDaemon daemon(folder.path());
  Endpoint endpoint = *read_endpoint(folder.path());
  endpoint.protocol_version = 2;
  write_endpoint(folder.path(), endpoint);
  Client client(options_for(folder));
  const ErrorMessage error = error_of(client.start(ask("x")).wait());
  CHECK(has(error.sentence, "The daemon speaks protocol version 2 and the client version 1"));
  CHECK(daemon.seen().hellos.empty());
}

TEST_CASE("a damaged host.json is told with its own sentence") {
  TemporaryFolder folder;
  EchoDaemon daemon(folder.path());
  Endpoint endpoint = *read_endpoint(folder.path());
  endpoint.address = "tcp://example.org:1";
  write_endpoint(folder.path(), endpoint);
  Client client(options_for(folder));
  CHECK(has(error_of(client.start(ask("x")).wait()).sentence, "host.json is damaged"));
}
