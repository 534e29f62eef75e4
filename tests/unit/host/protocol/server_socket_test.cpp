#include "host/protocol/server_socket.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <deque>
#include <fstream>
#include <future>
#include <stdexcept>
#include <thread>

#include "host/platform/paths.h"
#include "tests/unit/host/platform/temporary_folder.h"
#include "tests/unit/host/protocol/echo_daemon.h"
#include "tests/unit/host/protocol/raw_client.h"

using namespace glmhost;
using namespace glmhost::protocol;
using namespace std::chrono_literals;
using test::EchoDaemon;
using test::head;
using test::id_frame;
using test::RawClient;
using test::TemporaryFolder;

namespace {

const Hello kHello{kProtocolVersion, "raw", "0", 1};

ErrorMessage error_of(const std::optional<Envelope<DaemonMessage>>& envelope, std::uint64_t id) {
  REQUIRE(envelope);
  CHECK(envelope->id == id);
  const auto* const error = std::get_if<ErrorMessage>(&envelope->message);
  REQUIRE(error != nullptr);
  return *error;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A socket together with the lock it needs, for tests that poll it themselves.
struct Server {
  explicit Server(const TemporaryFolder& folder, const std::string& address = "")
      : lock(platform::FileLock::try_acquire(lock_file(folder.path()))), socket({folder.path(), address, ""}, *lock) {}

  // The next event, which must be of this kind.
  template <class Event>
  Event next() {
    for (int i = 0; i < 100 && events.empty(); ++i) {
      for (ServerEvent& event : socket.poll(200ms)) events.push_back(std::move(event));
    }
    if (events.empty() || !std::holds_alternative<Event>(events.front())) throw std::runtime_error("no such event");
    Event event = std::get<Event>(std::move(events.front()));
    events.pop_front();
    return event;
  }

  std::optional<platform::FileLock> lock;
  ServerSocket socket;
  std::deque<ServerEvent> events;
};

}  // namespace

TEST_CASE("hello is answered with the daemon's, and ping with ping") {
  TemporaryFolder folder;
  EchoDaemon daemon(folder.path());
  RawClient client(daemon.endpoint());
  client.send({3, kHello});
  const auto hello = client.receive();
  REQUIRE(hello);
  CHECK(hello->id == 3);
  CHECK(std::get<Hello>(hello->message).protocol_version == kProtocolVersion);
  CHECK(std::get<Hello>(hello->message).version == "test");
  CHECK(std::get<Hello>(hello->message).pid == static_cast<std::uint32_t>(getpid()));
  client.send({4, Ping{}});
  CHECK(client.receive() == Envelope<DaemonMessage>{4, Ping{}});
}

TEST_CASE("nothing is taken before hello") {
  TemporaryFolder folder;
  EchoDaemon daemon(folder.path());
  RawClient client(daemon.endpoint());
  Request request;
  request.prompt = "x";
  client.send({5, request});
  CHECK(has(error_of(client.receive(), 5).sentence, "must be hello"));
  client.send({6, Ping{}});
  CHECK(has(error_of(client.receive(), 6).sentence, "must be hello"));
  CHECK(daemon.seen().requests.empty());
  client.send({0, kHello});
  CHECK(std::holds_alternative<Hello>(client.receive()->message));
}

TEST_CASE("another protocol version, in the frame or in hello, is told both versions") {
  TemporaryFolder folder;
  EchoDaemon daemon(folder.path());
  RawClient client(daemon.endpoint());
  client.send({head(Kind::hello, 7), id_frame(1), "whatever"});
  CHECK(has(error_of(client.receive(), 1).sentence, "protocol version 7 and the daemon version 1"));
  client.send({2, Hello{8, "raw", "", 0}});
  CHECK(has(error_of(client.receive(), 2).sentence, "protocol version 8 and the daemon version 1"));
  CHECK(daemon.seen().hellos.empty());
}

TEST_CASE("malformed messages are answered, counted, and harm nobody") {
  TemporaryFolder folder;
  EchoDaemon daemon(folder.path());
  RawClient client(daemon.endpoint());
  client.send({0, kHello});
  client.receive();
  client.send({""});
  CHECK(error_of(client.receive(), 0).code == ErrorCode::bad_request);
  client.send({head(Kind::request), id_frame(9), "\xC1"});
  CHECK(error_of(client.receive(), 9).code == ErrorCode::bad_request);
  client.send(std::vector<std::string>(5000, "frame"));
  CHECK(error_of(client.receive(), 0).code == ErrorCode::bad_request);
  client.send({head(Kind::ping), id_frame(1), std::string("\x80")});
  CHECK(client.receive() == Envelope<DaemonMessage>{1, Ping{}});
  CHECK(daemon.wait_until([](const EchoDaemon::Seen& seen) { return seen.malformed.size() == 3; }));
}

TEST_CASE("a frame over the limit ends its connection before it is read, and others go on") {
  TemporaryFolder folder;
  EchoDaemon daemon(folder.path());
  RawClient other(daemon.endpoint());
  other.send({0, kHello});
  other.receive();
  RawClient client(daemon.endpoint());
  client.send({0, kHello});
  client.receive();
  client.send({head(Kind::request), id_frame(1), std::string(kMaxBodyBytes + 1, 'x')});
  CHECK(daemon.wait_until([](const EchoDaemon::Seen& seen) { return seen.gone == 1; }));
  other.send({2, Ping{}});
  CHECK(other.receive() == Envelope<DaemonMessage>{2, Ping{}});
  CHECK(daemon.seen().malformed.empty());
}

TEST_CASE("noise that is no ZeroMQ on the socket harms nobody") {
  TemporaryFolder folder;
  EchoDaemon daemon(folder.path());
  const std::string path = daemon.endpoint().address.substr(6);
  for (const std::string& noise :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(100'000, '\xff'), std::string(1000, '\0'), std::string()}) {
    const int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    REQUIRE(connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
    send(descriptor, noise.data(), noise.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    close(descriptor);
  }
  RawClient client(daemon.endpoint());
  client.send({0, kHello});
  CHECK(client.receive());
  CHECK(daemon.seen().malformed.empty());
}

TEST_CASE("a peer that leaves is announced once, and sending to it fails") {
  for (const char* address : {"ipc", "tcp://127.0.0.1:0"}) {
    TemporaryFolder folder;
    Server server(folder, address);
    // Hello is answered inside poll(), so the client runs on a thread of its own.
    auto client = std::async(std::launch::async, [endpoint = server.socket.endpoint()] {
      RawClient raw(endpoint);
      raw.send({0, kHello});
      raw.receive();
      raw.send({1, StatusRequest{}});
      return raw.receive();
    });
    const PeerId peer = server.next<Incoming>().peer;
    const Incoming status = server.next<Incoming>();
    CHECK(status.peer == peer);
    CHECK(std::holds_alternative<StatusRequest>(status.envelope.message));
    CHECK(server.socket.send(peer, {1, Status{}}));
    CHECK(client.get() == Envelope<DaemonMessage>{1, Status{}});
    CHECK(server.next<PeerGone>().peer == peer);
    CHECK(!server.socket.send(peer, {2, Ping{}}));
    CHECK(!server.socket.send(peer + 1, {2, Ping{}}));
    CHECK(server.socket.poll(50ms).empty());
  }
}

TEST_CASE("the last message of a peer that leaves at once is not lost") {
  TemporaryFolder folder;
  EchoDaemon daemon(folder.path());
  constexpr int kClients = 50;
  for (int i = 0; i < kClients; ++i) {
    RawClient client(daemon.endpoint());
    client.send({0, kHello});
    REQUIRE(client.receive());
    Request request;
    request.prompt = "never";
    client.send({1, request});
    client.socket().set(zmq::sockopt::linger, 1000);
  }
  CHECK(daemon.wait_until([](const EchoDaemon::Seen& seen) { return seen.gone == kClients; }));
  CHECK(daemon.seen().requests.size() == kClients);
  CHECK(daemon.seen().hellos.size() == kClients);
}

TEST_CASE("peers that come and go at once never confuse those that stay") {
  // Descriptors are used again at once: the end of one connection must not be taken for the end of the next.
  TemporaryFolder folder;
  EchoDaemon daemon(folder.path());
  std::vector<std::thread> threads;
  std::atomic<int> answered = 0;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        RawClient client(daemon.endpoint());
        client.send({0, kHello});
        if (i % 2 == 0) continue;  // leaves before it could be answered
        if (!client.receive()) continue;
        client.send({1, StatusRequest{}});
        answered += client.receive().has_value();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(answered == 200);
  const auto all_gone = [](const EchoDaemon::Seen& seen) { return seen.gone == seen.hellos.size(); };
  CHECK(daemon.wait_until(all_gone));
  CHECK(daemon.seen().hellos.size() >= 200);
}

TEST_CASE("a client that names itself comes back by a new connection as a new peer") {
  TemporaryFolder folder;
  EchoDaemon daemon(folder.path());
  const auto connect_named = [&] {
    auto client = std::make_unique<RawClient>(daemon.endpoint(), "me");
    client->send({0, kHello});
    CHECK(std::holds_alternative<Hello>(client->receive()->message));
    Request request;
    request.prompt = "never";
    client->send({1, request});
    CHECK(client->receive() == Envelope<DaemonMessage>{1, Accepted{"echo", 0}});
    return client;
  };
  const auto first = connect_named();
  first->send({0, kHello});  // saying hello again on the same connection is answered and changes nothing
  CHECK(std::holds_alternative<Hello>(first->receive()->message));
  const auto second = connect_named();  // position 0: the first request has gone with its connection
  CHECK(daemon.wait_until([](const EchoDaemon::Seen& seen) { return seen.gone == 1; }));
  second->send({2, Ping{}});
  CHECK(second->receive() == Envelope<DaemonMessage>{2, Ping{}});
  CHECK(daemon.seen().hellos.size() == 2);
}

TEST_CASE("a peer that never reads is dropped before memory is gone") {
  TemporaryFolder folder;
  Server server(folder);
  RawClient client(server.socket.endpoint());
  client.socket().set(zmq::sockopt::rcvhwm, 1);
  client.send({0, kHello});
  const PeerId peer = server.next<Incoming>().peer;
  Delta delta;
  delta.content.assign(100, 'x');
  int sent = 0;
  while (sent < 500'000 && server.socket.send(peer, {1, delta})) ++sent;
  CHECK(sent > 10'000);
  CHECK(sent < 500'000);
  CHECK(server.next<PeerGone>().peer == peer);
}

TEST_CASE("poll ends by itself, or when another thread wakes it") {
  TemporaryFolder folder;
  Server server(folder);
  CHECK(server.socket.poll(0ms).empty());
  CHECK(server.socket.poll(10ms).empty());
  server.socket.wake();
  server.socket.wake();
  CHECK(server.socket.poll(-1ms).empty());
  std::thread waker([&] { server.socket.wake(); });
  CHECK(server.socket.poll(-1ms).empty());
  waker.join();
  for (int i = 0; i < 1000; ++i) {
    std::thread again([&] { server.socket.wake(); });
    server.socket.poll(-1ms);
    again.join();
  }
}

TEST_CASE("host.json appears when somebody listens, and everything is gone afterwards") {
  TemporaryFolder folder;
  const auto socket_file = folder.path() / "daemon.sock";
  {
    Server server(folder, "ipc");
    const auto endpoint = read_endpoint(folder.path());
    REQUIRE(endpoint);
    CHECK(endpoint->address == "ipc://" + socket_file.string());
    CHECK(endpoint->pid == static_cast<std::uint32_t>(getpid()));
    CHECK(endpoint->protocol_version == kProtocolVersion);
    CHECK(endpoint->version == GLMHOST_VERSION);
    struct stat status {};
    REQUIRE(stat(socket_file.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    REQUIRE(stat(folder.path().c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0700);
  }
  CHECK(!read_endpoint(folder.path()));
  CHECK(!std::filesystem::exists(socket_file));
}

TEST_CASE("a stale socket file is replaced, anything else in its place is left alone") {
  TemporaryFolder folder;
  const auto file = folder.path() / "daemon.sock";
  SUBCASE("stale socket") {
    const int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    file.string().copy(address.sun_path, sizeof(address.sun_path) - 1);
    REQUIRE(bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
    close(descriptor);
    REQUIRE(std::filesystem::is_socket(file));
    EchoDaemon daemon(folder.path());
    RawClient client(daemon.endpoint());
    client.send({0, kHello});
    CHECK(client.receive());
  }
  SUBCASE("a file") {
    std::ofstream(file) << "precious";
    CHECK_THROWS_WITH_AS(Server{folder}, doctest::Contains("in the way"), std::runtime_error);
    CHECK(std::filesystem::file_size(file) == 8);
  }
  SUBCASE("a link") {
    std::filesystem::create_symlink("/etc/passwd", file);
    CHECK_THROWS_WITH_AS(Server{folder}, doctest::Contains("in the way"), std::runtime_error);
    CHECK(std::filesystem::is_symlink(file));
  }
}

TEST_CASE("addresses beyond this machine, and ports in use, are refused with a sentence") {
  TemporaryFolder folder;
  CHECK_THROWS_WITH_AS((Server{folder, "tcp://0.0.0.0:0"}), doctest::Contains("other machines"), std::runtime_error);
  CHECK_THROWS_WITH_AS((Server{folder, "nonsense"}), doctest::Contains("must begin with"), std::runtime_error);
  TemporaryFolder other;
  Server server(other, "tcp://127.0.0.1:0");
  CHECK_THROWS_WITH_AS((Server{folder, server.socket.endpoint().address}), doctest::Contains("cannot listen"),
                       std::runtime_error);
  CHECK(!read_endpoint(folder.path()));
}

TEST_CASE("a runtime folder with spaces and CJK, as long as it may be") {
  TemporaryFolder folder;
  std::string name = folder.path().string() + "/a b 数";
  name += std::string(platform::kMaxRuntimeFolderBytes - name.size(), 'x');
  EchoDaemon daemon(name);
  RawClient client(daemon.endpoint());
  client.send({0, kHello});
  CHECK(client.receive());
}

TEST_CASE("over tcp only the holder of the keys gets in") {
  TemporaryFolder folder;
  EchoDaemon daemon(folder.path(), "tcp://127.0.0.1:0");
  const Endpoint right = daemon.endpoint();
  const auto answers = [](const Endpoint& endpoint, std::chrono::milliseconds patience) {
    RawClient client(endpoint);
    client.send({0, kHello});
    return client.receive(patience).has_value();
  };
  CHECK(answers(right, 20s));

  Endpoint no_keys = right;
  no_keys.server_key.clear();
  CHECK(!answers(no_keys, 300ms));

  Endpoint own_pair = right;  // knows the server's public key, as anybody might
  std::array<char, 41> public_key{};
  std::array<char, 41> secret_key{};
  REQUIRE(zmq_curve_keypair(public_key.data(), secret_key.data()) == 0);
  own_pair.client_key = public_key.data();
  own_pair.client_secret = secret_key.data();
  CHECK(!answers(own_pair, 300ms));

  Endpoint stolen_public = right;  // the right public key, without its secret
  stolen_public.client_secret = secret_key.data();
  CHECK(!answers(stolen_public, 300ms));

  Endpoint wrong_server = right;  // somebody else listens on the port: the client must not speak to him
  wrong_server.server_key = public_key.data();
  CHECK(!answers(wrong_server, 300ms));

  CHECK(answers(right, 20s));
  CHECK(daemon.wait_until([](const EchoDaemon::Seen& seen) { return seen.hellos.size() == 2; }));
}

TEST_CASE("keys are new at every start") {
  TemporaryFolder folder;
  Endpoint first;
  {
    Server server(folder, "tcp://127.0.0.1:0");
    first = server.socket.endpoint();
  }
  Server server(folder, "tcp://127.0.0.1:0");
  CHECK(server.socket.endpoint().server_key != first.server_key);
  CHECK(server.socket.endpoint().client_key != first.client_key);
  CHECK(server.socket.endpoint().client_secret != first.client_secret);
}
