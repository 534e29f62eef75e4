// Answers of a demanded form, from a model with random weights: it says anything at all when it is let.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "tests/unit/host/daemon/running_daemon.h"

namespace glmhost::daemon {
namespace {

using nlohmann::json;
using protocol::OutputForm;

constexpr const char* kSchema = R"({"type": "object", "additionalProperties": false, "required": ["name", "tags"],
  "properties": {"name": {"type": "string", "minLength": 1, "maxLength": 5},
                 "tags": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"enum": ["a", "表"]}}}})";

Request demanding(OutputForm form, std::uint64_t seed = 0) {
  Request request = raw("hello", 200);
  request.temperature = 1;
  request.seed = seed;
  request.form = std::move(form);
  return request;
}

OutputForm form_of(OutputForm::Kind kind, std::string text) {
  return {.kind = kind, .text = std::move(text), .choices = {}};
}

OutputForm choice_of(std::vector<std::string> choices) {
  return {.kind = OutputForm::Kind::choice, .text = {}, .choices = std::move(choices)};
}

TEST_CASE("every kind of form holds, whatever the model would say") {
  RunningDaemon host;
  host.start();
  const auto client = host.client();
  const auto content = [&](const OutputForm& form, std::uint64_t seed) {
    const Result result = result_of(ask(*client, demanding(form, seed)));
    CHECK(result.finish_reason == "stop");
    return result.content;
  };
  const std::vector<std::string> labels = {"yes", "yes, but", "no", "不"};
  std::set<std::string> said;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const std::string label = content(choice_of(labels), seed);
    CHECK(std::find(labels.begin(), labels.end(), label) != labels.end());
    said.insert(label);
    const json value = json::parse(content(form_of(OutputForm::Kind::json_schema, kSchema), seed));
    CHECK(value.size() == 2);
    CHECK(value["name"].is_string());
    CHECK((value["tags"].size() >= 1 && value["tags"].size() <= 3));
    const std::string digits = content(form_of(OutputForm::Kind::regex, "[0-9]{3}"), seed);
    CHECK((digits.size() == 3 && digits.find_first_not_of("0123456789") == std::string::npos));
    const std::string word = content(form_of(OutputForm::Kind::grammar, "root ::= \"a\" [bc]{1,3}"), seed);
    CHECK((word.size() <= 4 && word.find_first_not_of("bc", 1) == std::string::npos));
    const std::string truth = content(form_of(OutputForm::Kind::type, "boolean"), seed);
    CHECK((truth == "true" || truth == "false"));
    CHECK(json::parse(content(form_of(OutputForm::Kind::type, "number"), seed)).is_number());
  }
  CHECK(said.size() > 1);
}

TEST_CASE("what is streamed is the answer, and a kept answer keeps its form") {
  RunningDaemon host;
  host.start();
  const auto client = host.client();
  std::string streamed;
  protocol::RequestCallbacks callbacks;
  callbacks.on_delta = [&](const protocol::Delta& delta) { streamed += delta.content; };
  const Request request = demanding(form_of(OutputForm::Kind::json_schema, kSchema), 3);
  const auto outcome = client->start(request, callbacks).wait_for(kPatience);
  REQUIRE(outcome.has_value());
  const Result first = result_of(*outcome);
  CHECK(streamed == first.content);
  const Result second = result_of(ask(*client, request));
  CHECK(second.from_memo);
  CHECK(second.content == first.content);
  // Another form, and none, are other requests.
  const Result other = result_of(ask(*client, demanding(form_of(OutputForm::Kind::regex, "[xy]"), 3)));
  CHECK_FALSE(other.from_memo);
  CHECK(other.content.size() == 1);
  Request free = request;
  free.form.reset();
  CHECK_FALSE(result_of(ask(*client, free)).from_memo);
}

TEST_CASE("the budget inside a form ends it as length") {
  RunningDaemon host;
  host.start();
  const auto client = host.client();
  Request request = demanding(form_of(OutputForm::Kind::json_schema, kSchema));
  request.max_tokens = 4;
  CHECK(result_of(ask(*client, request)).finish_reason == "length");
}

TEST_CASE("a form that is wrong is refused, with a sentence, before a model is loaded for it") {
  RunningDaemon host;
  Daemon& daemon = host.start();
  const auto client = host.client();
  const auto kind = [](OutputForm::Kind what, const char* text) { return form_of(what, text); };
  const std::vector<std::pair<OutputForm, std::string>> wrong = {
      {choice_of({}), "empty"},
      {choice_of({"a", ""}), "empty"},
      {kind(OutputForm::Kind::regex, "(a"), "regular expression"},
      {kind(OutputForm::Kind::regex, "a(?=b)"), "look"},
      {kind(OutputForm::Kind::grammar, "root ::= root \"a\" | \"b\""), "root"},
      {kind(OutputForm::Kind::grammar, "root ::= item"), "item"},
      {kind(OutputForm::Kind::grammar, "root ::= \"a\"\nroot ::= \"b\""), "root"},
      {kind(OutputForm::Kind::json_schema, "{"), "JSON"},
      {kind(OutputForm::Kind::json_schema, R"({"type": "integer", "minimum": 3, "maximum": 2})"), "contradicts"},
      {kind(OutputForm::Kind::json_schema, R"({"$ref": "#"})"), "refers to itself"},
      {kind(OutputForm::Kind::json_schema, R"({"uniqueItems": true})"), "uniqueItems"},
      {kind(OutputForm::Kind::type, "colour"), "colour"},
  };
  for (const auto& [form, says] : wrong) {
    const ErrorMessage error = error_of(ask(*client, demanding(form)));
    CHECK(error.code == ErrorCode::bad_request);
    CHECK(mentions(error.sentence, {says}));
    CHECK(error.sentence.back() == '.');
  }
  CHECK(daemon.counters().loads == 0);
  CHECK(result_of(ask(*client, demanding(choice_of({"a"})))).content == "a");
  for (const auto& [form, says] : wrong) {
    CHECK(mentions(error_of(ask(*client, demanding(form))).sentence, {says}));
  }
  CHECK(daemon.counters().loads == 1);
}

TEST_CASE("with a form the probabilities are told twice: among all tokens, and among those allowed") {
  RunningDaemon host;
  host.start();
  const auto client = host.client();
  std::vector<std::vector<protocol::TokenProbability>> tokens;
  protocol::RequestCallbacks callbacks;
  callbacks.on_delta = [&](const protocol::Delta& delta) {
    tokens.insert(tokens.end(), delta.logprobs.begin(), delta.logprobs.end());
  };
  Request request = demanding(choice_of({"a", "b"}));
  request.logprobs = 5;
  const auto outcome = client->start(request, callbacks).wait_for(kPatience);
  REQUIRE(outcome.has_value());
  REQUIRE(tokens.size() == 1);
  REQUIRE(tokens[0][0].constrained_logprob.has_value());
  CHECK(*tokens[0][0].constrained_logprob > tokens[0][0].logprob);
  CHECK(tokens[0][0].text == result_of(*outcome).content);
}

TEST_CASE("a base model calls no tools, and says so") {
  RunningDaemon host;
  host.start();
  const auto client = host.client();
  Request request;
  request.messages = {{{"role", "user"}, {"content", "What is the weather?"}}};
  request.tools = {{{"type", "function"}, {"function", {{"name", "weather"}}}}};
  const ErrorMessage error = error_of(ask(*client, request));
  CHECK(error.code == ErrorCode::bad_request);
  CHECK(mentions(error.sentence, {"tiny", "base model", "tools"}));
}

}  // namespace
}  // namespace glmhost::daemon
