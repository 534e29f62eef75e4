// A mask against its definition: a token is allowed exactly when its bytes can be taken.
#include <doctest/doctest.h>

#include <random>

#include "walk.h"

namespace glmhost::constraints::testing {
namespace {

// Walks a random text and at every state compares the whole mask with trying every token.
void compare(const Spec& spec, std::uint32_t seed) {
  CAPTURE(spec.text);
  const auto constraint = compiled(spec);
  const TokenTrie& trie = constraint->vocabulary();
  std::mt19937 random(seed);
  ConstraintState state(constraint);
  for (int step = 0; step < 25; ++step) {
    const auto span = state.mask();
    const std::vector<MaskWord> mask(span.begin(), span.end());
    std::vector<std::int32_t> allowed;
    int wrong = 0;
    for (std::int32_t id = 0; id < trie.vocabulary_size(); ++id) {
      ConstraintState probe = state;
      const bool taken = probe.accept(id);
      wrong += taken != bit_is_set(mask, id);
      if (taken && !trie.is_end_token(id)) allowed.push_back(id);
    }
    CHECK(wrong == 0);
    if (allowed.empty()) {
      CHECK(state.is_complete());
      return;
    }
    REQUIRE(state.accept(allowed[random() % allowed.size()]));
  }
}

TEST_CASE("masks are what the tokens say") {
  const std::vector<Spec> specs = {
      schema("true"),
      schema(
          R"({"type":"object","properties":{"name":{"type":"string"},"nam":{"type":"integer"},"oo":{}},"required":["name"]})"),
      schema(R"({"type":"object","properties":{"foo":{},"foobar":{}},"additionalProperties":false,"minProperties":1})"),
      schema(
          R"({"type":"object","patternProperties":{"^f":{"type":"integer"}},"properties":{"foo":{"type":"null"}},"additionalProperties":{"type":"string"}})"),
      schema(R"({"type":"array","items":{"type":"string","minLength":2,"maxLength":5},"minItems":2})"),
      schema(R"({"type":"array","items":{"enum":["foo","bar","é你😀",12,null]},"maxItems":4})"),
      schema(R"({"type":"array","items":{"type":"number","minimum":-3,"maximum":250.5}})"),
      schema(R"_({"type":"array","items":{"type":"string","pattern":"^[a-f]{2}(x|é)"}})_"),
      regex("([a-z]{1,3} ?)+[.!]"),
      gbnf("root ::= \"[\" (root (\",\" root)*)? \"]\" | [0-9]+"),
      choices({"foo", "foobar", "bar", "b"}),
      type("grid"),
  };
  for (const Spec& spec : specs) {
    for (const std::uint32_t seed : {1u, 2u}) compare(spec, seed);
  }
}

TEST_CASE("random texts end and are taken in any tokenisation") {
  const std::vector<Spec> specs = {
      schema(
          R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"array","items":{"$ref":"#"}}},"required":["a"],"additionalProperties":false})"),
      schema(R"({"type":"array","items":{"type":"string","format":"date-time"},"minItems":1,"maxItems":2})"),
      schema(
          R"({"type":"object","properties":{"名前":{"type":"string","maxLength":4},"年齢":{"type":"integer","minimum":0,"maximum":150}},"required":["名前","年齢"],"additionalProperties":false})"),
      regex("(foo|ba[rz]){2,5}"),
      gbnf("root ::= \"(\" root* \")\""),
  };
  for (const Spec& spec : specs) {
    const auto constraint = compiled(spec);
    for (std::uint32_t seed = 0; seed < 12; ++seed) {
      const std::string text = random_text(constraint, seed);
      CAPTURE(text);
      if (!text.empty()) CHECK(takes(constraint, text, seed + 100));
    }
  }
}

TEST_CASE("a long text does not grow the memory of states without bound, and keeps its place") {
  const auto constraint = compiled(schema(R"({"type":"array","items":{"type":"string","maxLength":40}})"));
  ConstraintState state(constraint);
  std::string text = "[";
  for (int i = 0; i < 3000; ++i) text += "\"item number " + std::to_string(i) + "\",";
  CHECK(state.accept_text(text) == text.size());
  CHECK(state.accept_text("\"last\"]") == 7);
  CHECK(state.can_end());
}

TEST_CASE("the end is final, and foreign ids are refused") {
  ConstraintState state(compiled(choices({"foo"})));
  const std::int32_t end = state.mask().empty() ? 0 : vocabulary()->end_tokens()[0];
  CHECK_FALSE(state.accept(end));
  CHECK_FALSE(state.accept(-1));
  CHECK_FALSE(state.accept(vocabulary()->vocabulary_size()));
  CHECK(state.forced_text() == "foo");
  CHECK(state.accept_text("foo") == 3);
  CHECK(state.is_complete());
  CHECK(state.accept(end));
  CHECK(state.ended());
  CHECK(state.accept_text("x") == 0);
}

}  // namespace
}  // namespace glmhost::constraints::testing
