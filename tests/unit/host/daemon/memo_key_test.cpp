#include "host/daemon/memo_key.h"

#include <doctest/doctest.h>

#include <functional>
#include <set>
#include <vector>

namespace glmhost::daemon {
namespace {

using tokenizer::Markers;

struct Named {
  Hash128 content{1, 2};
  std::string family = "glm-4.6";
  chat::Prompt prompt;
  protocol::Request request;

  Named() {
    prompt.parts = {{"<|user|>", Markers::all}, {"hello", Markers::none}};
    request.temperature = 0.5f;
  }
  Hash128 key() const { return memo_key(content, family, prompt, request); }
};

using Form = protocol::OutputForm;

Form form(Form::Kind kind, std::string text, std::vector<std::string> choices = {}) {
  return {.kind = kind, .text = std::move(text), .choices = std::move(choices)};
}

TEST_CASE("whatever decides the answer is in the key") {
  const std::vector<std::function<void(Named&)>> changes{
      [](Named&) {},
      [](Named& n) { n.content.high = 3; },
      [](Named& n) { n.content.low = 3; },
      [](Named& n) { n.family = "glm-4.7-flash"; },
      [](Named& n) { n.prompt.parts[1].text = "hellp"; },
      [](Named& n) { n.prompt.parts[1].markers = Markers::all; },  // a forged marker is not the marker
      [](Named& n) {
        n.prompt.parts = {{"<|user|>h", Markers::all}, {"ello", Markers::none}};
      },
      [](Named& n) {
        n.prompt.parts.push_back({"", Markers::none});
      },
      [](Named& n) { n.prompt.starts_in_reasoning = true; },
      [](Named& n) { n.prompt.continues_message = true; },
      [](Named& n) { n.request.max_tokens = 1; },
      [](Named& n) { n.request.temperature = 0.6f; },
      [](Named& n) { n.request.top_k = 1; },
      [](Named& n) { n.request.top_p = 0.5f; },
      [](Named& n) { n.request.min_p = 0.5f; },
      [](Named& n) { n.request.repetition_penalty = 1.5f; },
      [](Named& n) { n.request.seed = 1; },
      [](Named& n) { n.request.logprobs = 1; },
      [](Named& n) { n.request.stop = {"ab"}; },
      [](Named& n) {
        n.request.stop = {"a", "b"};
      },
      [](Named& n) {
        n.request.stop = {"", "ab"};
      },
      [](Named& n) { n.request.temperature = 0; },
      [](Named& n) { n.request.tools = nlohmann::ordered_json::array(); },
      [](Named& n) {
        n.request.tools = {{{"name", "a"}, {"parameters", {{"type", "string"}}}}};
      },
      [](Named& n) {
        n.request.tools = {{{"name", "a"}, {"parameters", {{"type", "number"}}}}};
      },
      [](Named& n) {
        n.request.tools = {{{"name", "a"}, {"parameters", {{"type", "number"}}}}};
        n.request.tool_choice = {protocol::ToolChoice::Kind::required, {}};
      },
      [](Named& n) {
        n.request.tools = {{{"name", "a"}, {"parameters", {{"type", "number"}}}}};
        n.request.tool_choice = {protocol::ToolChoice::Kind::named, "a"};
      },
      [](Named& n) { n.request.form = form(Form::Kind::regex, "number"); },
      [](Named& n) { n.request.form = form(Form::Kind::type, "number"); },
      [](Named& n) { n.request.form = form(Form::Kind::type, "date"); },
      [](Named& n) { n.request.form = form(Form::Kind::choice, "", {"ab"}); },
      [](Named& n) {
        n.request.form = form(Form::Kind::choice, "", {"a", "b"});
      },
      [](Named& n) {
        n.request.form = form(Form::Kind::choice, "", {"b", "a"});
      },
      [](Named& n) {
        n.request.form = form(Form::Kind::type, "date");
        n.request.enable_thinking = false;
      },
  };
  std::set<Hash128> keys;
  for (const auto& change : changes) {
    Named named;
    change(named);
    keys.insert(named.key());
    CHECK(named.key() == named.key());
  }
  CHECK(keys.size() == changes.size());
}

TEST_CASE("what does not decide the answer is not") {
  Named greedy, other;
  greedy.request.temperature = other.request.temperature = 0;
  other.request.seed = 7;
  other.request.top_k = 40;
  other.request.top_p = 0.9f;
  other.request.min_p = 0.1f;
  CHECK(greedy.key() == other.key());
  other.request.deadline_ms = 5;
  other.request.credits = 0;
  other.request.priority = protocol::Priority::batch;
  other.request.model = "another name of the same file";
  CHECK(greedy.key() == other.key());
}

TEST_CASE("hashes as bytes and text") {
  const Hash128 hash{0x0123456789abcdefu, 0xfedcba9876543210u};
  CHECK(hash.hex() == "0123456789abcdeffedcba9876543210");
  const auto bytes = hash.bytes();
  CHECK(Hash128::from_bytes({reinterpret_cast<const char*>(bytes.data()), bytes.size()}) == hash);
  CHECK(Hash128::from_bytes("short") == Hash128{});
}

}  // namespace
}  // namespace glmhost::daemon
