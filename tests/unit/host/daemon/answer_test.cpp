#include "host/daemon/answer.h"

#include <doctest/doctest.h>

namespace glmhost::daemon {
namespace {

TokenLogprobs token(const std::string& text) {
  return {{text, -1.0f, std::nullopt}};
}

chat::ToolCallParser weather_parser() {
  return {chat::ToolCallFormat::arg_tags, chat::Json::parse(R"([{"type": "function", "function": {"name": "weather",
      "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}}}])")};
}

TEST_CASE("a reader gets everything once, joined where it waited") {
  Answer answer;
  Cursor quick, slow;
  CHECK_FALSE(next_delta(answer, quick).has_value());
  answer.add("one ", {token("one ")});
  CHECK(next_delta(answer, quick)->content == "one ");
  CHECK_FALSE(next_delta(answer, quick).has_value());
  answer.add("", {token("tw")});  // text held back, the token is there
  CHECK(next_delta(answer, quick)->logprobs.size() == 1);
  answer.add("two", {token("o")});
  answer.end();
  const auto joined = next_delta(answer, slow);
  REQUIRE(joined.has_value());
  CHECK(joined->content == "one two");
  CHECK(joined->logprobs.size() == 3);
  CHECK(next_delta(answer, quick)->content == "two");
}

TEST_CASE("reasoning and content go their own ways") {
  Answer answer{chat::ReasoningSplitter(chat::Family::glm_4_6, false)};
  for (const char* piece : {"<th", "ink>why", " not</thi", "nk>", "answer"}) answer.add(piece, {});
  answer.end();
  CHECK(answer.reasoning() == "why not");
  CHECK(answer.content() == "answer");
  Cursor cursor;
  const auto delta = next_delta(answer, cursor);
  CHECK(delta->reasoning == "why not");
  CHECK(delta->content == "answer");
}

TEST_CASE("what is computed again is not told again, wherever the pieces are cut") {
  Answer answer{chat::ReasoningSplitter(chat::Family::glm_4_6, false)};
  Cursor cursor;
  answer.add("<think>a", {token("1"), token("2")});
  answer.add("b</think>c", {token("3")});
  next_delta(answer, cursor);
  answer.restart();
  for (const char* piece : {"<think>", "ab</th"}) answer.add(piece, {token("x")});
  CHECK_FALSE(next_delta(answer, cursor).has_value());
  answer.restart();  // made to give way a second time, before it had caught up
  answer.add("<think>ab</think>cd", {token("1"), token("2"), token("3"), token("4")});
  answer.end();
  const auto rest = next_delta(answer, cursor);
  REQUIRE(rest.has_value());
  CHECK(rest->content == "d");
  REQUIRE(rest->logprobs.size() == 1);
  CHECK(rest->logprobs[0][0].text == "4");
  CHECK(answer.reasoning() == "ab");
  CHECK(answer.content() == "cd");
}

TEST_CASE("calls of tools are taken out of the content, and told as they grow") {
  Answer answer(chat::ReasoningSplitter(chat::Family::glm_4_6, false), weather_parser());
  Cursor quick, slow;
  answer.add("<think>hm</think>I look. <tool_call>weather\n<arg_key>ci", {});
  auto delta = next_delta(answer, quick);
  REQUIRE(delta.has_value());
  CHECK(delta->reasoning == "hm");
  CHECK(delta->content == "I look.");
  REQUIRE(delta->tool_calls.size() == 1);
  CHECK(delta->tool_calls[0].name == "weather");
  CHECK(delta->tool_calls[0].status == "open");
  CHECK(delta->tool_calls[0].source.empty());

  answer.add("ty</arg_key><arg_value>北京</arg_value>", {});
  delta = next_delta(answer, quick);
  REQUIRE(delta->tool_calls.size() == 1);
  CHECK(delta->tool_calls[0].arguments == R"({"city":"北京"})");
  CHECK_FALSE(next_delta(answer, quick).has_value());

  answer.add("<arg_key>days</arg_key><arg_value>3</arg_value></tool_call>", {});
  answer.add("<tool_call>weather<arg_key>days</arg_key><arg_value>", {});
  answer.end();
  delta = next_delta(answer, quick);
  REQUIRE(delta->tool_calls.size() == 2);
  CHECK(delta->tool_calls[0].status == "complete");
  CHECK(delta->tool_calls[0].arguments == R"({"city":"北京","days":3})");
  CHECK(delta->tool_calls[1].status == "cut_off");
  CHECK_FALSE(delta->tool_calls[1].problem.empty());
  // Whoever waited gets each call once, as it is now.
  const auto joined = next_delta(answer, slow);
  CHECK(joined->tool_calls == delta->tool_calls);
  CHECK(joined->tool_calls == answer.tool_calls());
}

TEST_CASE("calls of tools survive being computed again") {
  Answer answer(std::nullopt, weather_parser());
  Cursor cursor;
  answer.add("<tool_call>weather<arg_key>days</arg_key><arg_value>1</arg_value>", {token("1")});
  next_delta(answer, cursor);
  answer.restart();
  answer.add("<tool_call>weather<arg_key>days</arg_key>", {token("1")});
  answer.add("<arg_value>1</arg_value></tool_call>", {token("2")});
  answer.end();
  const auto rest = next_delta(answer, cursor);
  REQUIRE(rest.has_value());
  REQUIRE(rest->tool_calls.size() == 1);
  CHECK(rest->tool_calls[0].status == "complete");
  CHECK(rest->tool_calls[0].arguments == R"({"days":1})");
  CHECK(answer.content().empty());
}

TEST_CASE("an answer from the store is whole") {
  const protocol::ToolCall call{"call_0", "f", "{}", "complete", "", "f"};
  Answer answer("content", "reasoning", {token("t")}, {call});
  Cursor cursor;
  const auto delta = next_delta(answer, cursor);
  CHECK(delta->content == "content");
  CHECK(delta->reasoning == "reasoning");
  CHECK(delta->logprobs.size() == 1);
  CHECK(delta->tool_calls == std::vector{call});
  CHECK_FALSE(next_delta(answer, cursor).has_value());
}

}  // namespace
}  // namespace glmhost::daemon
