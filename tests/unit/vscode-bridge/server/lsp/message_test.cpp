#include "vscode-bridge/server/lsp/message.h"

#include <doctest/doctest.h>

#include "vscode-bridge/server/lsp/sync.h"

using namespace glmhost;
using namespace glmhost::lsp;

namespace {

Malformed refused(std::string_view body) {
  const Message message = parse(body);
  REQUIRE(std::holds_alternative<Malformed>(message));
  CHECK(std::get<Malformed>(message).sentence.back() == '.');
  return std::get<Malformed>(message);
}

}  // namespace

TEST_CASE("requests, notifications and responses") {
  const auto request = std::get<Request>(parse(R"({"jsonrpc":"2.0","id":1,"method":"a","params":{"x":2}})"));
  CHECK(request.id == 1);
  CHECK(request.method == "a");
  CHECK(request.params["x"] == 2);
  CHECK(std::get<Request>(parse(R"({"jsonrpc":"2.0","id":"é","method":"a"})")).id == "é");
  CHECK(std::get<Notification>(parse(R"({"jsonrpc":"2.0","method":"exit"})")).params.is_null());
  CHECK(std::get<Response>(parse(R"({"jsonrpc":"2.0","id":1,"result":null})")).id == 1);
  CHECK(std::get<Response>(parse(R"({"jsonrpc":"2.0","id":1,"error":{"code":1}})")).error.has_value());
}

TEST_CASE("what is no message is refused with the code that the specification names") {
  for (const char* body : {"", "{", "nul", "{\"a\":}", "\xFF", "{} {}", "\"\\ud800", "[1,2"}) {
    CAPTURE(body);
    CHECK(refused(body).code == ErrorCode::parse_error);
    CHECK(refused(body).id.is_null());
  }
  for (const char* body :
       {"[]", "3", "null", "\"x\"", "{}", R"({"jsonrpc":"1.0","method":"a"})", R"({"jsonrpc":"2.0","method":3})",
        R"({"jsonrpc":"2.0","id":null,"method":"a"})", R"({"jsonrpc":"2.0","id":{},"method":"a"})",
        R"({"jsonrpc":"2.0","method":"a","params":3})", R"([{"jsonrpc":"2.0","method":"a"}])"}) {
    CAPTURE(body);
    CHECK(refused(body).code == ErrorCode::invalid_request);
  }
  CHECK(refused(R"({"jsonrpc":"2.0","id":7,"method":3})").id == 7);
  CHECK(refused(std::string(1'000'000, '[')).code == ErrorCode::parse_error);
  CHECK(refused(std::string(129, '[') + std::string(129, ']')).code == ErrorCode::parse_error);
  CHECK(refused(std::string(128, '[') + std::string(128, ']')).code == ErrorCode::invalid_request);
}

TEST_CASE("halves of surrogate pairs become one replacement character each") {
  const auto text = [](const std::string& escaped) {
    const Message message = parse(R"({"jsonrpc":"2.0","method":"m","params":{"t":")" + escaped + "\"}}");
    REQUIRE(std::holds_alternative<Notification>(message));
    return std::get<Notification>(message).params["t"].get<std::string>();
  };
  CHECK(text(R"(a\ud83d\ude00b)") ==
        "a\xF0\x9F\x98\x80"
        "b");
  CHECK(text(R"(a\ud83db)") ==
        "a\uFFFD"
        "b");
  CHECK(text(R"(\ude00)") == "\uFFFD");
  CHECK(text(R"(\ud83d\ud83d\ude00)") == "\uFFFD\xF0\x9F\x98\x80");
  CHECK(text(R"(\\ud83d \ud83d)") == "\\ud83d \uFFFD");  // the first is an escaped backslash
}

TEST_CASE("answers are one line of JSON each, also with bytes that are no UTF-8") {
  CHECK(result_text(1, nullptr) == R"({"id":1,"jsonrpc":"2.0","result":null})");
  CHECK(error_text("a", ErrorCode::method_not_found, "No.") ==
        R"({"error":{"code":-32601,"message":"No."},"id":"a","jsonrpc":"2.0"})");
  CHECK(Json::parse(notification_text("m", {{"t", "\xFF"}}))["params"]["t"] == "\uFFFD");
  CHECK(with_header("{}") == "Content-Length: 2\r\n\r\n{}");
}

TEST_CASE("params that are missing or of the wrong kind are named") {
  const Json params = {
      {"text", "a"}, {"number", 3}, {"large", 1e300}, {"unsigned", 18446744073709551615u}, {"flag", true}};
  CHECK(text_field(params, "text") == "a");
  CHECK(number_field(params, "number") == 3);
  CHECK_THROWS_WITH_AS(number_field(params, "large"), "The field \"large\" must be a whole number.", InvalidParams);
  CHECK_THROWS_AS(number_field(params, "unsigned"), InvalidParams);
  CHECK_THROWS_AS(text_field(params, "number"), InvalidParams);
  CHECK_THROWS_AS(text_field(nullptr, "x"), InvalidParams);
  CHECK_THROWS_AS(object_field(params, "text"), InvalidParams);
  CHECK(number_or(params, "text", 9) == 9);
  CHECK(flag_or(params, "flag", false));
  CHECK(text_or("no object", "text", "d") == "d");
  CHECK_THROWS_AS(read_position({{"line", -1}, {"character", 0}}), InvalidParams);
  CHECK_THROWS_AS(read_position({{"line", 1}}), InvalidParams);
  CHECK_THROWS_AS(read_changes(Json::array({3})), InvalidParams);
  CHECK_THROWS_AS(read_changes({{{"text", "x"}, {"range", 3}}}), InvalidParams);
  const auto changes = read_changes({{{"text", "x"}}, {{"text", "y"}, {"range", write_range({1, 2}, {3, 4})}}});
  CHECK_FALSE(changes[0].range.has_value());
  CHECK(changes[1].range->end == documents::Position{3, 4});
}
