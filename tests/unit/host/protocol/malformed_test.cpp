// Messages that break a rule: each is refused with a sentence that names what is wrong, none does harm.
#include <doctest/doctest.h>

#include <limits>

#include "host/protocol/body_reader.h"
#include "host/protocol/messages.h"
#include "tests/unit/host/protocol/frames.h"
#include "tests/unit/host/protocol/random_messages.h"

using namespace glmhost;
using namespace glmhost::protocol;
using test::head;
using test::id_frame;
using test::message;
using test::views;
using Json = nlohmann::ordered_json;
using namespace std::string_literals;

namespace {

DecodeError refused(const Frames& frames) {
  auto decoded = decode_client(views(frames));
  auto* const error = std::get_if<DecodeError>(&decoded);
  REQUIRE(error != nullptr);
  CHECK(!error->error.sentence.empty());
  CHECK(error->error.sentence.back() == '.');
  return *error;
}

// The sentence for a request with these fields besides its prompt.
std::string request_error(Json fields) {
  if (!fields.contains("prompt") && !fields.contains("messages")) fields["prompt"] = "x";
  const DecodeError error = refused(message(Kind::request, fields));
  CHECK(error.id == 7);
  CHECK(error.error.code == ErrorCode::bad_request);
  return error.error.sentence;
}

std::string body_error(const std::string& body) {
  return refused(message(Kind::request, body)).error.sentence;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const Json kUserMessage = {{"role", "user"}, {"content", "hello"}};

}  // namespace

TEST_CASE("frames: too few, too many, of the wrong size") {
  const std::string body = test::pack({{"prompt", "x"}});
  CHECK(refused({}).id == 0);
  CHECK(refused({""}).id == 0);
  CHECK(refused({head(Kind::request)}).id == 0);
  CHECK(refused({head(Kind::request), id_frame(7)}).id == 7);
  CHECK(refused({head(Kind::request), "1234567", body}).id == 0);
  CHECK(refused({head(Kind::request), "123456789", body}).id == 0);
  CHECK(refused({head(Kind::request) + "x", id_frame(7), body}).id == 7);
  CHECK(refused({head(Kind::request), id_frame(7), body, "more"}).id == 7);
  CHECK(refused({head(Kind::request), id_frame(7), ""}).id == 7);
  CHECK(refused(Frames(1000, body)).id == 0);
}

TEST_CASE("another protocol version: the sentence names both") {
  const DecodeError error = refused({head(Kind::hello, 9), id_frame(7), "whatever that version says"});
  CHECK(error.id == 7);
  CHECK(has(error.error.sentence, "The client speaks protocol version 9 and the daemon version 1"));

  const auto decoded = decode_daemon(views({head(Kind::error, 0), id_frame(7), ""}));
  CHECK(has(std::get<DecodeError>(decoded).error.sentence,
            "The daemon speaks protocol version 0 and the client version 1"));
}

TEST_CASE("kinds that do not exist, or that the other side sends") {
  for (const int kind : {0, 3, 4, 5, 6, 13, 127, 255}) {
    CHECK(
        has(refused(message(static_cast<Kind>(kind), Json::object())).error.sentence, "kind " + std::to_string(kind)));
  }
  for (const int kind : {0, 2, 7, 10, 11, 12, 13, 255}) {
    const auto decoded = decode_daemon(views(message(static_cast<Kind>(kind), Json::object())));
    CHECK(std::holds_alternative<DecodeError>(decoded));
  }
}

TEST_CASE("bodies that are no MessagePack") {
  CHECK(has(body_error(""), "not valid MessagePack"));
  CHECK(has(body_error("\xC1"s), "not valid MessagePack"));          // never used
  CHECK(has(body_error("\x81"s), "not valid MessagePack"));          // a map that ends early
  CHECK(has(body_error("\x80\x80"s), "not valid MessagePack"));      // bytes left over
  CHECK(has(body_error("\x81\x01\x02"s), "not valid MessagePack"));  // a key that is no text
  CHECK(has(body_error("{\"prompt\":\"x\"}"s), "MessagePack"));      // JSON
  CHECK(has(body_error("\x90"s), "must be a map"));
  CHECK(has(body_error("\xA1x"s), "must be a map"));
  CHECK(has(body_error("\xC0"s), "must be a map"));
}

TEST_CASE("claimed lengths reserve nothing") {
  CHECK(has(body_error("\xDF\xFF\xFF\xFF\xFF"s), "not valid MessagePack"));  // a map of 4 G entries
  CHECK(has(body_error("\xDD\xFF\xFF\xFF\xFF"s), "not valid MessagePack"));
  CHECK(has(body_error("\xDB\xFF\xFF\xFF\xFF"s + "x"), "not valid MessagePack"));
  CHECK(has(body_error("\x81\xA6prompt\xDB\xFF\xFF\xFF\xF0"s + std::string(100, 'x')), "not valid MessagePack"));
  CHECK(has(body_error("\xC6\xFF\xFF\xFF\xFF"s), "not valid MessagePack"));
}

TEST_CASE("nesting is bounded before it is built") {
  const auto nested = [](std::size_t levels, const std::string& level) {
    std::string body;
    for (std::size_t i = 0; i < levels; ++i) body += level;
    return body + "\xC0";
  };
  Json value;
  CHECK(!read_body(nested(64, "\x91"), value));
  CHECK(has(read_body(nested(65, "\x91"), value).value(), "nested more than 64 levels"));
  CHECK(!read_body(nested(64, "\x81\xA1k"s), value));
  CHECK(has(read_body(nested(65, "\x81\xA1k"s), value).value(), "nested more than 64 levels"));
  CHECK(has(body_error(nested(1'000'000, "\x91")), "nested more than 64 levels"));
  CHECK(has(body_error(nested(1'000'000, "\x81\xA1k"s)), "in the field \"k\""));
}

TEST_CASE("the number of values is bounded") {
  // Each nil is one byte on the wire and 16 in memory.
  const std::string body =
      "\xDD\x00\x20\x00\x00"s + std::string(2u << 20, '\xC0');  // and the list itself: one too many
  CHECK(has(body_error(body), "holds more than"));
}

TEST_CASE("a map with very many keys takes linear time") {
  constexpr std::uint32_t kKeys = 100'000;
  std::string body = "\xDF\x00\x01\x86\xA0"s;  // 100,000
  for (std::uint32_t i = 0; i < kKeys; ++i) {
    const std::string key = std::to_string(1'000'000 + i);
    body += static_cast<char>(0xA0 | key.size());
    body += key;
    body += '\xC0';
  }
  Json value;
  CHECK(!read_body(body, value));
  CHECK(value.size() == kKeys);
}

TEST_CASE("a key twice, at any level") {
  CHECK(has(body_error("\x82\xA6prompt\xA1x\xA6prompt\xA1y"s), "\"prompt\" is given twice"));
  CHECK(has(body_error("\x81\xA1k\x91\x83\xA1"
                       "a\x01\xA1"
                       "b\x02\xA1"
                       "a\x03"s),
            "\"a\" is given twice"));
}

TEST_CASE("binary data and extensions are no text") {
  CHECK(has(body_error("\x81\xA6prompt\xC4\x01x"s), "binary data in the field \"prompt\""));
  CHECK(has(body_error("\x81\xA6prompt\xD4\x01x"s), "binary data in the field \"prompt\""));
  CHECK(has(body_error("\xC4\x01x"s), "binary data in the body"));
}

TEST_CASE("text that is not UTF-8, named by its field") {
  for (const std::string& bytes : {"\xFF"s, "\xC3"s, "\xC0\x80"s, "\xED\xA0\x80"s, "\xF4\x90\x80\x80"s, "a\x80z"s,
                                   "\xE8\xA1"s, "\xF8\x88\x80\x80\x80"s}) {
    CHECK(has(request_error({{"prompt", bytes}}), "The text in the field \"prompt\" is not valid UTF-8"));
    CHECK(has(request_error({{"messages", {{{"role", "user"}, {"content", "x" + bytes}}}}}),
              "the field \"messages\" is not valid UTF-8"));
    CHECK(has(request_error({{"prompt", "x"}, {bytes, 1}}), "not valid UTF-8"));
    CHECK(has(request_error({{"prompt", "x"}, {"stop", {bytes}}}), "the field \"stop\" is not valid UTF-8"));
  }
}

TEST_CASE("exactly one source") {
  CHECK(has(refused(message(Kind::request, Json::object())).error.sentence,
            "one of \"messages\", \"prompt\" and \"infill\""));
  CHECK(has(request_error({{"prompt", "x"}, {"messages", {kUserMessage}}}), "Only one of"));
  CHECK(has(request_error({{"prompt", "x"}, {"infill", {{"prefix", "x"}}}}), "Only one of"));
  CHECK(has(request_error({{"prompt", ""}}), "\"prompt\" is empty"));
  CHECK(has(request_error({{"messages", Json::array()}}), "\"messages\" is empty"));
}

TEST_CASE("messages that no template could take") {
  CHECK(has(request_error({{"messages", "hello"}}), "\"messages\" must be a list, not text"));
  CHECK(has(request_error({{"messages", kUserMessage}}), "\"messages\" must be a list, not a map"));
  CHECK(has(request_error({{"messages", {kUserMessage, "hello"}}}), "\"messages[1]\" must be a map"));
  CHECK(has(request_error({{"messages", {{{"content", "x"}}}}}), "\"messages[0].role\""));
  CHECK(has(request_error({{"messages", {{{"role", 3}}}}}), "\"messages[0].role\""));
  CHECK(has(request_error({{"messages", {{{"role", ""}}}}}), "\"messages[0].role\""));
  CHECK(has(request_error({{"messages", Json::array_t(100'001, nullptr)}}), "at most 100000"));
}

TEST_CASE("numbers outside their range, or no numbers: the sentence names field, range and value") {
  CHECK(request_error({{"max_tokens", 0}}) ==
        "The field \"max_tokens\" must be a whole number from 1 to 1048576, not 0.");
  CHECK(has(request_error({{"max_tokens", -5}}), "not -5."));
  CHECK(has(request_error({{"max_tokens", 1'048'577}}), "\"max_tokens\""));
  CHECK(has(request_error({{"max_tokens", 1.5}}), "whole number"));
  CHECK(has(request_error({{"max_tokens", "12"}}), "not text."));
  CHECK(has(request_error({{"max_tokens", true}}), "not true."));
  CHECK(has(request_error({{"max_tokens", std::numeric_limits<std::uint64_t>::max()}}), "not 18446744073709551615."));
  CHECK(has(request_error({{"max_tokens", std::uint64_t{1} << 32 | 5}}), "\"max_tokens\""));  // 5 if cut to 32 bits
  CHECK(has(request_error({{"max_tokens", std::numeric_limits<std::int64_t>::min()}}), "\"max_tokens\""));
  CHECK(has(request_error({{"top_k", -1}}), "\"top_k\""));
  CHECK(has(request_error({{"top_k", 1'000'001}}), "\"top_k\""));
  CHECK(has(request_error({{"seed", -1}}), "\"seed\""));
  CHECK(has(request_error({{"logprobs", 21}}), "\"logprobs\""));
  CHECK(has(request_error({{"logprobs", -1}}), "\"logprobs\""));
  CHECK(has(request_error({{"priority", 2}}), "\"priority\""));
  CHECK(has(request_error({{"priority", "batch"}}), "\"priority\""));
  CHECK(has(request_error({{"deadline_ms", 0}}), "\"deadline_ms\""));
  CHECK(has(request_error({{"deadline_ms", 86'400'001}}), "\"deadline_ms\""));
  CHECK(has(request_error({{"credits", kMaxCredits + 1}}), "\"credits\""));
  CHECK(has(request_error({{"memo", 1}}), "true or false"));
  CHECK(has(request_error({{"enable_thinking", "yes"}}), "true or false"));
  CHECK(has(request_error({{"model", 5}}), "\"model\" must be text, not 5."));
  CHECK(has(request_error({{"model", std::string(4097, 'x')}}), "at most 4096"));
}

TEST_CASE("real numbers at and beyond the ends of their ranges") {
  struct Range {
    const char* field;
    double low, high;
    bool low_in, high_in;
  };
  for (const Range& range : {Range{"temperature", 0, 10, true, true}, Range{"top_p", 0, 1, false, true},
                             Range{"min_p", 0, 1, true, false}, Range{"repetition_penalty", 0, 10, false, true}}) {
    const auto accepted = [&](const Json& value) {
      return std::holds_alternative<Envelope<ClientMessage>>(
          decode_client(views(message(Kind::request, {{"prompt", "x"}, {range.field, value}}))));
    };
    INFO(std::string(range.field));
    CHECK(accepted(range.low) == range.low_in);
    CHECK(accepted(range.high) == range.high_in);
    CHECK(accepted((range.low + range.high) / 2));
    CHECK(!accepted(range.low - 0.001));
    CHECK(!accepted(range.high + 0.001));
    CHECK(!accepted(std::numeric_limits<double>::infinity()));
    CHECK(!accepted(-std::numeric_limits<double>::infinity()));
    CHECK(!accepted(std::numeric_limits<double>::quiet_NaN()));
    CHECK(!accepted(1e300));
    CHECK(!accepted("0.5"));
    CHECK(!accepted(Json::array()));
  }
  CHECK(has(request_error({{"top_p", std::numeric_limits<double>::quiet_NaN()}}),
            "a number above 0 and at most 1, not NaN"));
}

TEST_CASE("real numbers that leave their range when they are rounded to float") {
  CHECK(has(request_error({{"min_p", 0.99999999999}}), "\"min_p\" must be a number of at least 0 and below 1"));
  CHECK(has(request_error({{"top_p", 1e-60}}), "\"top_p\""));
  CHECK(has(request_error({{"repetition_penalty", 1e-60}}), "\"repetition_penalty\""));
}

TEST_CASE("stop strings") {
  CHECK(has(request_error({{"stop", "end"}}), "must be a list"));
  CHECK(has(request_error({{"stop", {""}}}), "1 to 256 bytes"));
  CHECK(has(request_error({{"stop", {std::string(257, 'x')}}}), "1 to 256 bytes"));
  CHECK(has(request_error({{"stop", {5}}}), "1 to 256 bytes"));
  CHECK(has(request_error({{"stop", Json::array_t(17, "x")}}), "at most 16"));
}

TEST_CASE("the other client messages") {
  CHECK(has(refused(message(Kind::hello, Json::object())).error.sentence, "\"protocol_version\" is missing"));
  CHECK(has(refused(message(Kind::hello, {{"protocol_version", -1}})).error.sentence, "\"protocol_version\""));
  CHECK(has(refused(message(Kind::hello, {{"protocol_version", 1}, {"program", std::string(257, 'x')}})).error.sentence,
            "\"program\""));
  CHECK(has(refused(message(Kind::hello, {{"protocol_version", 1}, {"pid", 1ull << 32}})).error.sentence, "\"pid\""));
  CHECK(has(refused(message(Kind::credit, {{"deltas", 0}})).error.sentence, "\"deltas\""));
  CHECK(has(refused(message(Kind::credit, {{"deltas", kMaxCredits + 1}})).error.sentence, "\"deltas\""));
  CHECK(has(refused(message(Kind::control, Json::object())).error.sentence, "\"action\" is missing"));
  CHECK(has(refused(message(Kind::control, {{"action", 3}})).error.sentence, "\"action\""));
  CHECK(has(refused(message(Kind::cancel, Json::array())).error.sentence, "must be a map"));
}

TEST_CASE("a body over the limit is too large") {
  Frames frames = message(Kind::request, Json::object());
  frames[2].resize(kMaxBodyBytes + 1);
  CHECK(refused(frames).error.code == ErrorCode::too_large);
}

TEST_CASE("answers of a daemon that breaks the rules") {
  const auto error_of = [](Kind kind, const Json& body) {
    const auto decoded = decode_daemon(views(message(kind, body)));
    const auto* const error = std::get_if<DecodeError>(&decoded);
    REQUIRE(error != nullptr);
    return error->error.sentence;
  };
  CHECK(has(error_of(Kind::delta, {{"content", 5}}), "\"content\""));
  for (const Json& logprobs :
       {Json("x"), Json({5}), Json({{5}}), Json({{{"a"}}}), Json({{{"a", 0.5}}}), Json({{{5, -1}}}),
        Json({{{"a", std::numeric_limits<double>::quiet_NaN()}}}), Json({{{"a", -1, 2}}}), Json({{{"a", -1, "x"}}}),
        Json({{{"a", -1, std::numeric_limits<double>::quiet_NaN()}}}), Json({{{"a", -1, -1, -1}}})}) {
    CHECK(has(error_of(Kind::delta, {{"logprobs", logprobs}}), "\"logprobs\""));
  }
  CHECK(has(error_of(Kind::result, {{"usage", {{"prompt_tokens", -1}}}}), "\"usage.prompt_tokens\""));
  CHECK(has(error_of(Kind::result, {{"usage", {{"queue_ms", -1}}}}), "\"usage.queue_ms\""));
  CHECK(has(error_of(Kind::result, {{"usage", 3}}), "usage"));
  CHECK(has(error_of(Kind::error, {{"sentence", "x"}}), "\"code\" is missing"));
  CHECK(has(error_of(Kind::status, Json::object()), "\"pid\" is missing"));
  CHECK(has(error_of(Kind::status, {{"pid", 1}, {"models", {5}}}), "Each entry of \"models\" must be a map"));
  CHECK(has(error_of(Kind::status, {{"pid", 1}, {"models", {{{"name", "a"}, {"load_fraction", 1.5}}}}}),
            "\"models[0].load_fraction\""));
  CHECK(has(error_of(Kind::status, {{"pid", 1}, {"models", {{{"name", "a"}, {"unload_in_s", -2}}}}}),
            "\"models[0].unload_in_s\""));
  CHECK(has(error_of(Kind::status, {{"pid", 1}, {"queue", {{"waiting", "x"}}}}), "\"queue.waiting\""));
}

TEST_CASE("valid messages cut short or with bytes changed never do harm") {
  test::Random random(3);
  std::size_t refusals = 0;
  for (int i = 0; i < 4000; ++i) {
    const bool from_client = i % 2 == 0;
    Frames frames = from_client
                        ? encode(Envelope<ClientMessage>{random(), test::random_client_message(random, random() % 7)})
                        : encode(Envelope<DaemonMessage>{random(), test::random_daemon_message(random, random() % 7)});
    std::string& frame = frames[random() % 3];
    if (frame.empty()) continue;
    switch (random() % 3) {
      case 0:
        frame.resize(random() % frame.size());
        break;
      case 1:
        frame[random() % frame.size()] = static_cast<char>(random());
        break;
      default:
        frame.insert(random() % frame.size(), 1, static_cast<char>(random()));
    }
    const bool refused = from_client ? std::holds_alternative<DecodeError>(decode_client(views(frames)))
                                     : std::holds_alternative<DecodeError>(decode_daemon(views(frames)));
    refusals += refused;
  }
  CHECK(refusals > 1000);
  CHECK(refusals < 4000);
}

TEST_CASE("the form of an answer: its kind, what it needs, and what it excludes") {
  const auto error = [](Json form) { return request_error({{"form", std::move(form)}}); };
  CHECK(has(error("x"), "\"form\" must be a map"));
  CHECK(has(error(Json::object()), "\"form.kind\" is missing"));
  CHECK(has(error({{"kind", 3}}), "\"form.kind\" must be text"));
  CHECK(has(error({{"kind", "xml"}}), "one of json_schema, regex, grammar, choice and type"));
  for (const char* kind : {"json_schema", "regex", "grammar", "type"}) {
    CHECK(has(error({{"kind", kind}}), "\"form.text\" is missing"));
    CHECK(has(error({{"kind", kind}, {"text", Json::object()}}), "\"form.text\" must be text"));
  }
  CHECK(has(error({{"kind", "choice"}}), "\"form.choices\" is missing"));
  CHECK(has(error({{"kind", "choice"}, {"choices", "a,b"}}), "\"form.choices\" must be a list"));
  CHECK(has(error({{"kind", "choice"}, {"choices", Json::array({"a", 1})}}), "\"form.choices\" must hold only text"));
  CHECK(has(error({{"kind", "choice"}, {"choices", Json(1'000'001, 0)}}), "at most 1000000"));
  const Json digits = {{"kind", "regex"}, {"text", "[0-9]"}};
  CHECK(has(request_error({{"form", digits}, {"stop", {"a"}}}), "\"stop\" and \"form\" cannot be combined"));
  CHECK(has(request_error({{"form", digits}, {"tools", Json::array()}, {"messages", {kUserMessage}}}),
            "Only one of \"form\" and \"tools\""));
}

TEST_CASE("tools: a list of maps, and a conversation to use them in") {
  const auto error = [](Json tools) {
    return request_error({{"tools", std::move(tools)}, {"messages", {kUserMessage}}});
  };
  CHECK(has(error("x"), "\"tools\" must be a list"));
  CHECK(has(error(Json::array({5})), "\"tools[0]\" must be a map"));
  CHECK(has(error(Json(1001, Json::object())), "at most 1000"));
  CHECK(has(request_error({{"tools", Json::array()}}), "need a conversation"));
}

TEST_CASE("the choice of a tool: as in OpenAI's API, and with tools to choose from") {
  const Json tools = {{{"type", "function"}, {"function", {{"name", "f"}}}}};
  const auto error = [&](Json choice) {
    return request_error({{"tools", tools}, {"tool_choice", std::move(choice)}, {"messages", {kUserMessage}}});
  };
  for (const Json& wrong : {Json(5), Json("any"), Json::array(), Json::object(), Json({{"type", "function"}}),
                            Json({{"type", "custom"}, {"name", "f"}}), Json({{"function", {{"name", 5}}}}),
                            Json({{"type", "function"}, {"function", "f"}})}) {
    CHECK(has(error(wrong), "\"tool_choice\" must be \"none\", \"auto\", \"required\" or the tool"));
  }
  CHECK(has(request_error({{"tool_choice", "required"}, {"messages", {kUserMessage}}}), "there are no \"tools\""));
  CHECK(
      has(request_error({{"tool_choice", "required"}, {"tools", tools}, {"stop", {"x"}}, {"messages", {kUserMessage}}}),
          "\"stop\" cannot be combined"));
  const auto chosen = [&](Json choice) {
    const auto decoded = decode_client(views(message(
        Kind::request, Json{{"tools", tools}, {"tool_choice", std::move(choice)}, {"messages", {kUserMessage}}})));
    const auto* envelope = std::get_if<Envelope<ClientMessage>>(&decoded);
    REQUIRE(envelope != nullptr);
    return std::get<Request>(envelope->message).tool_choice;
  };
  using Choice = ToolChoice::Kind;
  CHECK(chosen("none") == ToolChoice{Choice::none, {}});
  CHECK(chosen("auto") == ToolChoice{});
  CHECK(chosen(nullptr) == ToolChoice{});
  CHECK(chosen("required") == ToolChoice{Choice::required, {}});
  CHECK(chosen({{"type", "function"}, {"function", {{"name", "f"}}}}) == ToolChoice{Choice::named, "f"});
  CHECK(chosen({{"type", "function"}, {"name", "f"}}) == ToolChoice{Choice::named, "f"});
}

TEST_CASE("calls of tools that a daemon tells of wrongly") {
  for (const Kind kind : {Kind::delta, Kind::result}) {
    const auto error = [&](const Json& calls) {
      const auto decoded = decode_daemon(views(message(kind, Json{{"tool_calls", calls}})));
      const auto* const refusal = std::get_if<DecodeError>(&decoded);
      REQUIRE(refusal != nullptr);
      return refusal->error.sentence;
    };
    CHECK(has(error("x"), "\"tool_calls\" must be a list"));
    CHECK(has(error(Json::array({5})), "Each entry of \"tool_calls\" must be a map"));
    CHECK(has(error(Json::array({Json::object()})), "\"tool_calls[0].id\" is missing"));
    CHECK(has(error({{{"id", "a"}}, {{"id", "b"}, {"arguments", Json::object()}}}), "\"tool_calls[1].arguments\""));
  }
}

TEST_CASE("a gap to be filled: what must be a map, text, or not too long a list") {
  const auto error = [](Json infill) {
    return refused(message(Kind::request, Json{{"infill", std::move(infill)}})).error.sentence;
  };
  CHECK(has(error("x"), "infill"));
  CHECK(has(error({{"prefix", 3}}), "infill.prefix"));
  CHECK(has(error({{"suffix", Json::array()}}), "infill.suffix"));
  CHECK(has(error({{"one_line", 1}}), "infill.one_line"));
  CHECK(has(error({{"language", std::string(257, 'x')}}), "infill.language"));
  CHECK(has(error({{"path", std::string(4097, 'x')}}), "infill.path"));
  CHECK(has(error({{"context", "x"}}), "infill.context"));
  CHECK(has(error({{"context", {{{"path", "a"}, {"text", 1}}}}}), "infill.context[0].text"));
  CHECK(has(error({{"context", Json(257, Json::object())}}), "infill.context"));
  const auto accepted = decode_client(views(message(Kind::request, Json{{"infill", {{"prefix", "x"}}}})));
  REQUIRE(std::holds_alternative<Envelope<ClientMessage>>(accepted));
  CHECK(std::get<Request>(std::get<Envelope<ClientMessage>>(accepted).message).infill->prefix == "x");
}
