#include "host/protocol/messages.h"

#include <doctest/doctest.h>

#include "tests/unit/host/protocol/frames.h"
#include "tests/unit/host/protocol/random_messages.h"

using namespace glmhost;
using namespace glmhost::protocol;
using test::views;

TEST_CASE("every client message comes back as it was sent") {
  test::Random random(1);
  for (std::size_t kind = 0; kind < std::variant_size_v<ClientMessage>; ++kind) {
    for (int i = 0; i < 500; ++i) {
      const Envelope<ClientMessage> sent{random(), test::random_client_message(random, kind)};
      REQUIRE(sent.message.index() == kind);
      const auto received = decode_client(views(encode(sent)));
      if (const auto* error = std::get_if<DecodeError>(&received)) FAIL(error->error.sentence);
      REQUIRE(std::get<Envelope<ClientMessage>>(received) == sent);
    }
  }
}

TEST_CASE("every daemon message comes back as it was sent") {
  test::Random random(2);
  for (std::size_t kind = 0; kind < std::variant_size_v<DaemonMessage>; ++kind) {
    for (int i = 0; i < 500; ++i) {
      const Envelope<DaemonMessage> sent{random(), test::random_daemon_message(random, kind)};
      REQUIRE(sent.message.index() == kind);
      const auto received = decode_daemon(views(encode(sent)));
      if (const auto* error = std::get_if<DecodeError>(&received)) FAIL(error->error.sentence);
      REQUIRE(std::get<Envelope<DaemonMessage>>(received) == sent);
    }
  }
}

// Written out from the MessagePack specification, so that encoder and decoder cannot agree on something else.
TEST_CASE("the bytes of a message") {
  using namespace std::string_literals;
  const Frames credit = encode(Envelope<ClientMessage>{0x0102030405060708, Credit{300}});
  REQUIRE(credit.size() == 3);
  CHECK(credit[0] == "\x01\x0A"s);
  CHECK(credit[1] == "\x08\x07\x06\x05\x04\x03\x02\x01"s);
  CHECK(credit[2] ==
        "\x81\xA6"
        "deltas\xCD\x01\x2C"s);

  const Frames hello = encode(Envelope<ClientMessage>{0, Hello{1, "glm", "0.1", 66000}});
  CHECK(hello[0] == "\x01\x01"s);
  CHECK(hello[1] == std::string(8, '\0'));
  CHECK(hello[2] ==
        "\x84\xB0"
        "protocol_version\x01\xA7"
        "program\xA3"
        "glm\xA7"
        "version\xA3"
        "0.1\xA3"
        "pid\xCE\x00\x01\x01\xD0"s);

  const Frames error = encode(Envelope<DaemonMessage>{7, ErrorMessage{ErrorCode::busy, "Later."}});
  CHECK(error[0] == "\x01\x06"s);
  CHECK(error[2] ==
        "\x82\xA4"
        "code\xA4"
        "busy\xA8"
        "sentence\xA6"
        "Later."s);
}

TEST_CASE("kinds on the wire") {
  const auto kind_of = [](const auto& message) { return static_cast<int>(encode(message)[0][1]); };
  CHECK(kind_of(Envelope<ClientMessage>{1, Hello{}}) == 1);
  CHECK(kind_of(Envelope<ClientMessage>{1, Request{}}) == 2);
  CHECK(kind_of(Envelope<DaemonMessage>{1, Accepted{}}) == 3);
  CHECK(kind_of(Envelope<DaemonMessage>{1, Delta{}}) == 4);
  CHECK(kind_of(Envelope<DaemonMessage>{1, Result{}}) == 5);
  CHECK(kind_of(Envelope<DaemonMessage>{1, ErrorMessage{}}) == 6);
  CHECK(kind_of(Envelope<ClientMessage>{1, Cancel{}}) == 7);
  CHECK(kind_of(Envelope<ClientMessage>{1, StatusRequest{}}) == 8);
  CHECK(kind_of(Envelope<DaemonMessage>{1, Status{}}) == 8);
  CHECK(kind_of(Envelope<ClientMessage>{1, Ping{}}) == 9);
  CHECK(kind_of(Envelope<DaemonMessage>{1, Ping{}}) == 9);
  CHECK(kind_of(Envelope<ClientMessage>{1, Credit{}}) == 10);
  CHECK(kind_of(Envelope<ClientMessage>{1, Control{}}) == 11);
}

TEST_CASE("error codes have stable names") {
  const std::vector<std::string> names = {"no_model",  "model_load_failed", "bad_request",
                                          "too_large", "cancelled",         "deadline",
                                          "busy",      "backend_failed",    "internal"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto code = static_cast<ErrorCode>(i);
    CHECK(name(code) == names[i]);
    CHECK(find_error_code(names[i]) == code);
  }
  CHECK(!find_error_code(""));
  CHECK(!find_error_code("Busy"));
}

TEST_CASE("an error code of a later release keeps its sentence") {
  const auto received =
      decode_daemon(views(test::message(Kind::error, {{"code", "out_of_tea"}, {"sentence", "Make some."}})));
  const auto& envelope = std::get<Envelope<DaemonMessage>>(received);
  CHECK(envelope.id == 7);
  CHECK(envelope.message == DaemonMessage(ErrorMessage{ErrorCode::internal, "Make some."}));
}

TEST_CASE("missing and null fields keep their defaults, unknown ones are passed over") {
  const auto received = decode_client(views(test::message(
      Kind::request,
      {{"prompt", "x"}, {"seed", nullptr}, {"stop", nullptr}, {"messages", nullptr}, {"later", {1, 2}}})));
  Request expected;
  expected.prompt = "x";
  CHECK(std::get<Envelope<ClientMessage>>(received).message == ClientMessage(expected));

  const auto result = decode_daemon(views(test::message(Kind::result, {{"usage", {{"watts", 12}}}})));
  CHECK(std::get<Envelope<DaemonMessage>>(result).message == DaemonMessage(Result{}));
}

TEST_CASE("whole numbers serve where real ones are asked for") {
  const auto received = decode_client(views(test::message(Kind::request, {{"prompt", "x"}, {"temperature", 2}})));
  CHECK(std::get<Request>(std::get<Envelope<ClientMessage>>(received).message).temperature == 2.0f);
}

TEST_CASE("a status as JSON") {
  Status status;
  status.pid = 12;
  status.version = "0.1.0";
  status.endpoint = "ipc:///run/x";
  status.models.push_back({});
  status.models[0].name = "smollm2";
  status.queue.waiting = 3;
  const nlohmann::ordered_json json = to_json(status);
  CHECK(json["pid"] == 12);
  CHECK(json["version"] == "0.1.0");
  CHECK(json["endpoint"] == "ipc:///run/x");
  CHECK(json["models"][0]["name"] == "smollm2");
  CHECK(json["models"][0]["unload_in_s"] == -1);
  CHECK(json["queue"]["waiting"] == 3);
}
