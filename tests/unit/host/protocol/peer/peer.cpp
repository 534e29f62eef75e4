// The other process of processes_test.cpp: a daemon or a client to be killed, stopped, or run as another user.
//
//   protocol_peer serve FOLDER ADDRESS      says "listening"
//   protocol_peer ask FOLDER PROMPT         says "accepted" when its request was
//   protocol_peer knock UID ADDRESS         as that user, over a bare socket: says "answered" or "refused"
//   protocol_peer request UID FOLDER        as that user, with Client: says what the outcome was
#include <grp.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "tests/unit/host/protocol/echo_daemon.h"
#include "tests/unit/host/protocol/raw_client.h"

namespace {

using namespace glmhost;

void say(const std::string& line) {
  std::cout << line << std::endl;
}

[[noreturn]] void wait_for_the_end() {
  for (;;) pause();
}

void become(const char* user) {
  const auto id = static_cast<uid_t>(std::strtoul(user, nullptr, 10));
  if (setgroups(0, nullptr) != 0 || setgid(id) != 0 || setuid(id) != 0) std::abort();
}

protocol::Request request(const std::string& prompt) {
  protocol::Request made;
  made.prompt = prompt;
  made.max_tokens = 1'000'000;
  return made;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string role = argv[1];
  if (role == "serve") {
    const test::EchoDaemon daemon(argv[2], argv[3]);
    say("listening");
    wait_for_the_end();
  }
  if (role == "ask") {
    protocol::ClientOptions options;
    options.runtime_folder = argv[2];
    protocol::Client client(options);
    client.start(request(argv[3]), {.on_accepted = [](const protocol::Accepted&) { say("accepted"); }});
    wait_for_the_end();
  }
  become(argv[2]);
  if (role == "knock") {
    protocol::Endpoint endpoint;
    endpoint.address = argv[3];
    test::RawClient client(endpoint);
    client.send({0, protocol::Hello{}});
    say(client.receive(std::chrono::milliseconds(500)) ? "answered" : "refused");
    return 0;
  }
  protocol::ClientOptions options;
  options.runtime_folder = argv[3];
  protocol::Client client(options);
  const protocol::Outcome outcome = client.start(request("never")).wait();
  if (const auto* error = std::get_if<protocol::ErrorMessage>(&outcome)) say(error->sentence);
  return 0;
}
