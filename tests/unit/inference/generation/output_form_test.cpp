// Answers of a demanded form, by small models with random weights: these say anything at all when they are let.
#include "inference/generation/output_form.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "tests/unit/inference/generation/loaded_model.h"
#include "tests/unit/inference/generation/refused.h"

namespace glmhost::generation {
namespace {

using constraints::Spec;
using nlohmann::json;

// Ten fields, of which much can be written without asking the model.
constexpr const char* kPerson = R"({"type": "object", "additionalProperties": false,
  "required": ["name", "age", "height", "email", "born", "admin", "tags", "address", "colour", "note"],
  "properties": {
    "name": {"type": "string", "minLength": 1, "maxLength": 8}, "age": {"type": "integer", "minimum": 0, "maximum": 120},
    "height": {"type": "number", "minimum": 1, "maximum": 2, "multipleOf": 0.01},
    "email": {"type": "string", "pattern": "^[a-z]{1,5}@[a-z]{1,5}\\.org$"}, "born": {"type": "string", "format": "date"},
    "admin": {"type": "boolean"}, "tags": {"type": "array", "maxItems": 2, "items": {"enum": ["a", "b", "表"]}},
    "address": {"type": "object", "additionalProperties": false, "required": ["城市"],
                "properties": {"城市": {"enum": ["北京", "上海"]}}},
    "colour": {"enum": ["red", "green"]}, "note": {"type": "null"}}})";

Spec spec(Spec::Kind kind, std::string text) {
  Spec made;
  made.kind = kind;
  made.text = std::move(text);
  made.white_space = Spec::WhiteSpace::usual;
  made.order = Spec::PropertyOrder::declared;
  return made;
}

Spec choice_of(std::vector<std::string> choices) {
  Spec made;
  made.kind = Spec::Kind::choice;
  made.choices = std::move(choices);
  return made;
}

OutputForm form_of(const LoadedModel& loaded, const Spec& spec,
                   OutputForm::Reasoning reasoning = OutputForm::Reasoning::none) {
  return {constraints::compile(spec, std::make_shared<const constraints::TokenTrie>(loaded.tokenizer)), reasoning};
}

GenerationRequest request_of(std::uint32_t seed, const OutputForm& form, std::int32_t max_tokens = 200) {
  GenerationRequest request = random_request(seed, 10, max_tokens);
  request.form = form;
  return request;
}

// Seed by seed.
template <class IsRight>
void check_answers(const LoadedModel& loaded, const Spec& spec, const IsRight& is_right) {
  const OutputForm form = form_of(loaded, spec);
  std::set<std::string> texts;
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    const Answer answer = run_alone(loaded, request_of(seed, form));
    INFO(answer.text);
    CHECK(answer.finished == FinishReason::stop);
    CHECK(is_right(answer.text));
    CHECK(loaded.tokenizer.decode(answer.tokens) == answer.text);
    texts.insert(answer.text);
  }
  CHECK(texts.size() > 1);  // the model's choice, not the form's alone
}

}  // namespace

TEST_CASE("an answer is one of the choices, also of those that begin alike") {
  const std::set<std::string> choices = {"yes", "yes and no", "no", "是的"};
  check_answers(load_small(), choice_of({choices.begin(), choices.end()}),
                [&](const std::string& text) { return choices.contains(text); });
}

TEST_CASE("an answer matches the regular expression") {
  const std::regex form("[A-C]{2,4}-(0|[1-9][0-9]{0,2})(;x+y)?");
  check_answers(load_small("glm4-a"), spec(Spec::Kind::regex, "[A-C]{2,4}-(0|[1-9][0-9]{0,2})(;x{1,5}y)?"),
                [&](const std::string& text) { return std::regex_match(text, form); });
}

TEST_CASE("an answer satisfies the schema") {
  check_answers(load_small(), spec(Spec::Kind::json_schema, kPerson), [](const std::string& text) {
    const json person = json::parse(text, nullptr, false);
    if (!person.is_object() || person.size() != 10) return false;
    const std::size_t tags = person["tags"].size();
    const int age = person["age"];
    return person["name"].is_string() && age >= 0 && age <= 120 && person["height"] >= 1 && person["height"] <= 2 &&
           tags <= 2 && person["note"].is_null() && person["address"]["城市"].get<std::string>().size() == 6;
  });
}

TEST_CASE("an answer is in the language of the grammar") {
  const auto is_balanced = [](const std::string& text) {
    int depth = 0;
    for (const char byte : text) {
      depth += byte == '(' ? 1 : byte == ')' ? -1 : 0;
      if (depth < 0) return false;
    }
    return depth == 0 && !text.empty();
  };
  check_answers(load_small("gemma3-a"),
                spec(Spec::Kind::grammar,
                     "root ::= \"(\" b \")\"\nb ::= c | \"(\" c c \")\" | c b2\nb2 ::= \"(\" c? \")\"\n"
                     "c ::= [xy]{1,3} | \"(\" [w-z]{0,2} \")\"\n"),
                is_balanced);
}

TEST_CASE("what must come is written without asking the model, and the rest is as it was") {
  const LoadedModel loaded = load_small();
  kernels::ThreadPool pool(1);
  Scheduler scheduler(*loaded.model, loaded.tokenizer, pool, {});
  Answers answers;
  const auto id = scheduler.add(request_of(1, form_of(loaded, spec(Spec::Kind::json_schema, kPerson)), 300));
  REQUIRE(id.has_value());
  run_until_idle(scheduler, answers);
  const auto tokens = answers.of(*id).tokens.size();
  CHECK(scheduler.counters().generated_tokens == tokens);
  CHECK(scheduler.counters().steps * 3 < tokens * 2);
  // One way only: the model is asked for the last token alone.
  Scheduler other(*loaded.model, loaded.tokenizer, pool, {});
  const auto only = other.add(request_of(1, form_of(loaded, choice_of({"the only thing to say"}))));
  Answers other_answers;
  run_until_idle(other, other_answers);
  CHECK(other_answers.of(*only).text == "the only thing to say");
  CHECK(other.counters().steps == 1);
}

TEST_CASE("the forced text is tokenised together with the token before it") {
  const LoadedModel loaded = load_small();
  const std::string text = "start to finish";
  const std::vector<std::int32_t> whole = loaded.tokenizer.encode(text, tokenizer::Markers::none);
  const auto letter = loaded.tokenizer.find("s");
  REQUIRE(letter.has_value());
  REQUIRE(loaded.tokenizer.bytes(whole[0]).size() > 0);
  FormFollower follower(form_of(loaded, choice_of({text, "x"})), loaded.tokenizer);
  REQUIRE(follower.accept(*letter));
  const std::vector<std::int32_t> jump = follower.jump_ahead(*letter, 100);
  CHECK(jump == std::vector(whole.begin(), whole.end() - 1));
  CHECK(follower.accept(whole.back()));
  CHECK(follower.complete());
  // No further than there is room.
  FormFollower short_of_room(form_of(loaded, choice_of({text, "x"})), loaded.tokenizer);
  REQUIRE(short_of_room.accept(*letter));
  CHECK(short_of_room.jump_ahead(*letter, jump.size() - 1) == std::vector{*letter});
}

TEST_CASE("the same request gives the same answer in any company") {
  const LoadedModel loaded = load_small();
  const OutputForm person = form_of(loaded, spec(Spec::Kind::json_schema, kPerson));
  const OutputForm choice = form_of(loaded, choice_of({"yes", "no", "perhaps"}));
  std::vector<GenerationRequest> requests;
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    GenerationRequest request = random_request(seed, 10 + seed * 7, 60);
    if (seed % 3 == 0) request.form = person;
    if (seed % 3 == 1) request.form = choice;
    if (seed % 2 == 0) request.priority = Priority::batch;
    requests.push_back(request);
  }
  kernels::ThreadPool pool(2);
  Scheduler scheduler(*loaded.model, loaded.tokenizer, pool, {.kv_bytes = 0, .max_sequences = 5, .prompt_piece = 16});
  Answers answers;
  std::vector<SequenceId> ids;
  for (const GenerationRequest& request : requests) {
    std::optional<SequenceId> id;
    while (!(id = scheduler.add(request))) answers.take(scheduler.step());
    ids.push_back(*id);
  }
  run_until_idle(scheduler, answers);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Answer alone = run_alone(loaded, requests[i]);
    CHECK(answers.of(ids[i]).text == alone.text);
    CHECK(answers.of(ids[i]).tokens == alone.tokens);
    CHECK(answers.of(ids[i]).finished == alone.finished);
  }
}

TEST_CASE("the budget ends an answer inside its form as length, never as success") {
  const LoadedModel loaded = load_small();
  const OutputForm form = form_of(loaded, spec(Spec::Kind::json_schema, kPerson));
  for (std::int32_t budget = 1; budget < 30; ++budget) {
    const Answer answer = run_alone(loaded, request_of(4, form, budget));
    CHECK(answer.finished == FinishReason::length);
    CHECK(static_cast<std::int32_t>(answer.tokens.size()) == budget);
  }
}

TEST_CASE("the form begins behind the reasoning") {
  const LoadedModel loaded = load_small("glm4-a");
  const auto open = *loaded.tokenizer.find("<think>");
  const auto close = *loaded.tokenizer.find("</think>");
  const Spec yes_or_no = choice_of({"yes", "no"});
  const auto y = *loaded.tokenizer.find("y");
  const auto x = *loaded.tokenizer.find("x");
  const auto end = loaded.tokenizer.end_of_generation().front();
  const auto allowed = [](FormFollower& follower, std::int32_t token) {
    return constraints::bit_is_set(follower.mask(), token);
  };
  SUBCASE("that the prompt began") {
    FormFollower follower(form_of(loaded, yes_or_no, OutputForm::Reasoning::begun), loaded.tokenizer);
    CHECK(follower.opening(100).empty());
    CHECK(allowed(follower, x));
    CHECK_FALSE(allowed(follower, end));
    REQUIRE(follower.accept(x));
    CHECK(follower.jump_ahead(x, 100) == std::vector{x});
    REQUIRE(follower.accept(close));
    CHECK_FALSE(allowed(follower, x));
    CHECK(allowed(follower, y));
  }
  SUBCASE("that the model begins") {
    FormFollower follower(form_of(loaded, yes_or_no, OutputForm::Reasoning::may_come), loaded.tokenizer);
    CHECK(allowed(follower, y));
    CHECK_FALSE(allowed(follower, x));
    REQUIRE(allowed(follower, open));
    REQUIRE(follower.accept(open));
    CHECK(allowed(follower, x));
    REQUIRE(follower.accept(close));
    CHECK_FALSE(allowed(follower, open));
    CHECK(allowed(follower, y));
  }
  SUBCASE("or not, where it does not reason") {
    FormFollower follower(form_of(loaded, yes_or_no, OutputForm::Reasoning::may_come), loaded.tokenizer);
    REQUIRE(follower.accept(y));
    CHECK_FALSE(allowed(follower, open));
  }
  SUBCASE("the end of which a token may hold in its middle") {
    FormFollower follower(form_of(loaded, yes_or_no, OutputForm::Reasoning::begun), loaded.tokenizer);
    for (const char* piece : {"<", "/", "t", "h", "i", "n", "k"})
      REQUIRE(follower.accept(*loaded.tokenizer.find(piece)));
    REQUIRE(follower.accept(*loaded.tokenizer.find(">")));
    CHECK_FALSE(allowed(follower, x));
    CHECK(allowed(follower, y));
  }
}

TEST_CASE("probabilities are told with and without the form") {
  const LoadedModel loaded = load_small();
  GenerationRequest request = request_of(1, form_of(loaded, choice_of({"a", "b"})));
  request.sampling.logprobs = 20;
  const Answer answer = run_alone(loaded, request);
  REQUIRE(answer.choices.size() == 1);
  const std::vector<TokenLogprob>& probabilities = answer.choices[0].logprobs;
  REQUIRE(probabilities.size() == 20);
  CHECK(probabilities[0].token == answer.tokens[0]);
  REQUIRE(probabilities[0].constrained_logprob.has_value());
  CHECK(*probabilities[0].constrained_logprob > probabilities[0].logprob);
  // a and b keep their ratio, and are all there is.
  request.form = {};
  request.sampling.temperature = 0;
  const auto allowed = std::count_if(probabilities.begin(), probabilities.end(),
                                     [](const TokenLogprob& one) { return one.constrained_logprob.has_value(); });
  CHECK(allowed <= 2);
  for (const TokenLogprob& one : probabilities) {
    if (!one.constrained_logprob) continue;
    CHECK(*one.constrained_logprob - one.logprob ==
          doctest::Approx(*probabilities[0].constrained_logprob - probabilities[0].logprob).epsilon(1e-4));
  }
}

TEST_CASE("a form and stop strings are refused together") {
  const LoadedModel loaded = load_small();
  GenerationRequest request = request_of(1, form_of(loaded, choice_of({"a"})));
  request.stop = {"x"};
  check_refused([&] { run_alone(loaded, request); }, ErrorKind::bad_argument, {"Stop strings", "form"});
}

}  // namespace glmhost::generation
