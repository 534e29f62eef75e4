// Daemon and client in processes of their own: killed, stopped, started again, or run by another user.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <chrono>
#include <random>
#include <thread>

#include "host/platform/file_lock.h"
#include "host/platform/process.h"
#include "tests/unit/host/platform/temporary_folder.h"
#include "tests/unit/host/protocol/child_process.h"
#include "tests/unit/host/protocol/echo_daemon.h"

using namespace glmhost;
using namespace glmhost::protocol;
using namespace std::chrono_literals;
using test::ChildProcess;
using test::EchoDaemon;
using test::TemporaryFolder;

namespace {

ClientOptions options_for(const TemporaryFolder& folder) {
  ClientOptions options;
  options.runtime_folder = folder.path();
  return options;
}

Request ask(const std::string& prompt, std::int32_t tokens = 10) {
  Request request;
  request.prompt = prompt;
  request.max_tokens = tokens;
  return request;
}

ErrorMessage error_of(const Outcome& outcome) {
  const auto* const error = std::get_if<ErrorMessage>(&outcome);
  REQUIRE(error != nullptr);
  return *error;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> serve(const TemporaryFolder& folder, const std::string& address) {
  return {GLMHOST_PROTOCOL_PEER, "serve", folder.path().string(), address};
}

}  // namespace

TEST_CASE("a client killed with -9 is noticed, with whatever it had open") {
  for (const char* address : {"ipc", "tcp://127.0.0.1:0"}) {
    TemporaryFolder folder;
    EchoDaemon daemon(folder.path(), address);
    ChildProcess client({GLMHOST_PROTOCOL_PEER, "ask", folder.path().string(), "wait"});
    CHECK(client.read_line() == "accepted");
    const auto start = std::chrono::steady_clock::now();
    client.end();
    CHECK(daemon.wait_until([](const EchoDaemon::Seen& seen) { return seen.gone == 1; }));
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    MESSAGE(std::string(address) << ": noticed after " << took.count() << " ms");
    CHECK(std::get<Status>(Client(options_for(folder)).status()).queue.running == 0);
  }
}

TEST_CASE("a daemon killed with -9: open requests end, the next one starts over its leavings, the client finds it") {
  TemporaryFolder folder;
  Client client(options_for(folder));
  for (const char* address : {"ipc", "tcp://127.0.0.1:0", "ipc"}) {
    ChildProcess daemon(serve(folder, address));
    REQUIRE(daemon.read_line() == "listening");
    CHECK(std::holds_alternative<Result>(client.start(ask("x")).wait()));
    Client::Call open = client.start(ask("never"));
    CHECK(!open.wait_for(10ms));
    daemon.end();
    const ErrorMessage error = error_of(open.wait());
    CHECK(error.code == ErrorCode::backend_failed);
    CHECK(has(error.sentence, "went away"));

    CHECK(read_endpoint(folder.path()));  // stale
    CHECK(has(error_of(client.start(ask("x")).wait()).sentence, "is not running"));
    CHECK(std::holds_alternative<ErrorMessage>(Client(options_for(folder)).status()));
  }
}

TEST_CASE("a daemon that hangs: new connections give up in time, and work when it goes on") {
  TemporaryFolder folder;
  ChildProcess daemon(serve(folder, "ipc"));
  REQUIRE(daemon.read_line() == "listening");
  daemon.halt();
  ClientOptions options = options_for(folder);
  options.connect_timeout = 100ms;
  Client client(options);
  const ErrorMessage error = error_of(client.start(ask("x")).wait());
  CHECK(error.code == ErrorCode::backend_failed);
  CHECK(has(error.sentence, "(process " + std::to_string(daemon.pid()) + ") did not answer within 100 ms"));
  const auto status = client.status(50ms);
  CHECK(std::get<ErrorMessage>(status).code == ErrorCode::deadline);
  daemon.go_on();
  Client patient(options_for(folder));
  CHECK(std::holds_alternative<Result>(patient.start(ask("x")).wait()));
}

TEST_CASE("a second daemon finds the lock taken, and by whom") {
  TemporaryFolder folder;
  ChildProcess first(serve(folder, "ipc"));
  REQUIRE(first.read_line() == "listening");
  CHECK_THROWS_AS(EchoDaemon(folder.path(), "ipc"), std::runtime_error);
  CHECK(platform::FileLock::holder(lock_file(folder.path())) == static_cast<std::uint32_t>(first.pid()));
  Client client(options_for(folder));
  CHECK(std::holds_alternative<Result>(client.start(ask("x")).wait()));
  first.end();
  EchoDaemon second(folder.path(), "ipc");
  CHECK(std::holds_alternative<Result>(client.start(ask("x")).wait()));
}

TEST_CASE("a daemon killed at random moments: every request ends, with the whole result or with an error") {
  TemporaryFolder folder;
  Client client(options_for(folder));
  std::mt19937 random(1);
  int results = 0;
  int errors = 0;
  for (int i = 0; i < 20; ++i) {
    ChildProcess daemon(serve(folder, i % 2 == 0 ? "ipc" : "tcp://127.0.0.1:0"));
    REQUIRE(daemon.read_line() == "listening");
    std::vector<Client::Call> calls;
    for (int j = 0; j < 20; ++j) calls.push_back(client.start(ask(j % 2 == 0 ? "wait" : "x", 5 + j)));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
    daemon.end();
    for (int j = 0; j < 20; ++j) {
      const Outcome outcome = calls[j].wait();
      if (const auto* result = std::get_if<Result>(&outcome)) {
        ++results;
        CHECK(result->usage.generated_tokens == static_cast<std::uint32_t>(5 + j));
      } else {
        ++errors;
        CHECK(error_of(outcome).code == ErrorCode::backend_failed);
      }
    }
  }
  CHECK(results + errors == 400);
  MESSAGE(results << " results, " << errors << " errors");
}

TEST_CASE("another user of the machine does not get in") {
  if (geteuid() != 0) {
    MESSAGE("skipped: only root can act as another user");
    return;
  }
  const auto knock = [](const std::string& user, const std::string& address) {
    return ChildProcess({GLMHOST_PROTOCOL_PEER, "knock", user, address}).read_line();
  };
  const std::string nobody = "65534";
  SUBCASE("ipc") {
    TemporaryFolder folder;
    EchoDaemon daemon(folder.path(), "ipc");
    CHECK(knock("0", daemon.endpoint().address) == "answered");
    CHECK(knock(nobody, daemon.endpoint().address) == "refused");

    // Also when somebody opens folder and socket by mistake.
    REQUIRE(chmod(folder.path().c_str(), 0755) == 0);
    REQUIRE(chmod((folder.path() / "daemon.sock").c_str(), 0777) == 0);
    CHECK(knock(nobody, daemon.endpoint().address) == "refused");
    CHECK(knock("0", daemon.endpoint().address) == "answered");
    CHECK(has(ChildProcess({GLMHOST_PROTOCOL_PEER, "request", nobody, folder.path().string()}).read_line(),
              "Permission denied"));
    CHECK(daemon.wait_until([](const EchoDaemon::Seen& seen) { return seen.hellos.size() == 2; }));
  }
  SUBCASE("tcp") {
    TemporaryFolder folder;
    EchoDaemon daemon(folder.path(), "tcp://127.0.0.1:0");
    CHECK(knock(nobody, daemon.endpoint().address) == "refused");
    CHECK(has(ChildProcess({GLMHOST_PROTOCOL_PEER, "request", nobody, folder.path().string()}).read_line(),
              "Permission denied"));
    CHECK(daemon.seen().hellos.empty());
  }
}
