#include "host/daemon/answer.h"

#include <doctest/doctest.h>

namespace glmhost::daemon {
namespace {

TokenLogprobs token(const std::string& text) {
  return {{text, -1.0f}};
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

TEST_CASE("an answer from the store is whole") {
  Answer answer("content", "reasoning", {token("t")});
  Cursor cursor;
  const auto delta = next_delta(answer, cursor);
  CHECK(delta->content == "content");
  CHECK(delta->reasoning == "reasoning");
  CHECK(delta->logprobs.size() == 1);
}

}  // namespace
}  // namespace glmhost::daemon
