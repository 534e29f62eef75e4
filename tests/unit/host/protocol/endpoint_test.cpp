#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "host/platform/private_file.h"
#include "host/protocol/address.h"
#include "host/protocol/client.h"
#include "tests/unit/host/platform/temporary_folder.h"

using namespace glmhost;
using namespace glmhost::protocol;
using test::TemporaryFolder;

namespace {

const std::string kKey = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7";  // from the specification of Z85 keys in ZeroMQ

Endpoint tcp_endpoint() {
  return {"tcp://127.0.0.1:5000", 77, 1, "0.1.0", kKey, kKey, kKey};
}

std::string read_error(const std::filesystem::path& folder, const std::string& text) {
  platform::write_private_file(folder / "host.json", text);
  try {
    read_endpoint(folder);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("an endpoint comes back as it was written") {
  TemporaryFolder folder;
  CHECK(!read_endpoint(folder.path()));
  for (const Endpoint& written :
       {tcp_endpoint(), Endpoint{"ipc:///home/a b/数/daemon.sock", 1, 1, "0.1.0", "", "", ""}}) {
    write_endpoint(folder.path(), written);
    const auto read = read_endpoint(folder.path());
    REQUIRE(read);
    CHECK(read->address == written.address);
    CHECK(read->pid == written.pid);
    CHECK(read->protocol_version == written.protocol_version);
    CHECK(read->version == written.version);
    CHECK(read->server_key == written.server_key);
    CHECK(read->client_key == written.client_key);
    CHECK(read->client_secret == written.client_secret);
  }
  CHECK((std::filesystem::status(folder.path() / "host.json").permissions() & std::filesystem::perms::all) ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  remove_endpoint(folder.path());
  CHECK(!read_endpoint(folder.path()));
  remove_endpoint(folder.path());
}

TEST_CASE("a damaged host.json is an error that says what to do") {
  TemporaryFolder folder;
  for (const char* text :
       {"", "{", "5", "[]", "{\"address\": \"ipc:///x\"}", "{\"address\": 5, \"pid\": 1, \"protocol_version\": 1}",
        "{\"address\": \"ipc:///x\", \"pid\": -1, \"protocol_version\": 1}",
        "{\"address\": \"ipc:///x\", \"pid\": 1, \"protocol_version\": \"1\"}"}) {
    const std::string error = read_error(folder.path(), text);
    CHECK(has(error, "host.json is damaged"));
    CHECK(has(error, "glm stop --force"));
  }
  CHECK(has(read_error(folder.path(), std::string(20'000, ' ')), "larger than"));
  CHECK(has(read_error(folder.path(), std::string(10'000, '[')), "damaged"));
}

TEST_CASE("a host.json that would lead a client elsewhere is refused") {
  TemporaryFolder folder;
  const auto with = [](const std::string& address, const std::string& key) {
    return "{\"address\": \"" + address + "\", \"pid\": 1, \"protocol_version\": 1, \"server_key\": \"" + key +
           "\", \"client_key\": \"" + key + "\", \"client_secret\": \"" + key + "\"}";
  };
  CHECK(read_error(folder.path(), with("tcp://127.0.0.1:99", kKey)) == "no error");
  CHECK(has(read_error(folder.path(), with("tcp://127.0.0.1:99", "")), "no keys"));
  CHECK(has(read_error(folder.path(), with("tcp://127.0.0.1:99", "short")), "no keys"));
  CHECK(has(read_error(folder.path(), with("tcp://example.org:99", kKey)), "other machines"));
}

TEST_CASE("addresses: loopback and socket files only") {
  for (const char* right :
       {"ipc:///run/x", "tcp://127.0.0.1:0", "tcp://127.0.0.1:65535", "tcp://127.1.2.3:80", "tcp://[::1]:5000"}) {
    INFO(std::string(right));
    CHECK(!check_address(right));
  }
  for (const char* wrong : {"",
                            "ipc://",
                            "ipc://relative",
                            "ipc://@abstract",
                            "tcp://",
                            "tcp://127.0.0.1",
                            "tcp://127.0.0.1:",
                            "tcp://127.0.0.1:x",
                            "tcp://127.0.0.1:65536",
                            "tcp://127.0.0.1:-1",
                            "tcp://127.0.0.1:*",
                            "tcp://0.0.0.0:5000",
                            "tcp://*:5000",
                            "tcp://localhost:5000",
                            "tcp://192.168.0.1:5000",
                            "tcp://127.0.0.1.evil.org:5000",
                            "tcp://127.0.0:5000",
                            "tcp://127.0.0.256:5000",
                            "tcp://127.0.0.1.1:5000",
                            "tcp://127.0.0.:5000",
                            "tcp://[::]:5000",
                            "tcp://[::1]",
                            "tcp://eth0:5000",
                            "tcp://eth0;127.0.0.1:5000",
                            "udp://127.0.0.1:5000",
                            "inproc://x",
                            "pgm://127.0.0.1:1",
                            "IPC:///run/x"}) {
    INFO(std::string(wrong));
    CHECK(check_address(wrong));
  }
  CHECK(check_address(std::string_view("ipc:///a\0b", 10)));
}

TEST_CASE("keys") {
  CHECK(is_key(kKey));
  CHECK(!is_key(""));
  CHECK(!is_key(kKey + "0"));
  CHECK(!is_key(std::string(39, '0') + "\""));
  CHECK(!is_key(std::string(39, '0') + " "));
}
