#include "inference/constraints/constraint_cache.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "inference/error.h"
#include "inference/model_files/gguf_file.h"

namespace glmhost::constraints {
namespace {

struct Fixture {
  tokenizer::Tokenizer tokenizer{model_files::GgufFile::open(GLMHOST_TEST_DATA "/models/llama-a.gguf")};
  ConstraintCache cache{tokenizer};
};

Spec choice_of(std::vector<std::string> choices) {
  Spec spec;
  spec.kind = Spec::Kind::choice;
  spec.choices = std::move(choices);
  return spec;
}

Spec regex(std::string text) {
  Spec spec;
  spec.kind = Spec::Kind::regex;
  spec.text = std::move(text);
  return spec;
}

bool allows(const std::shared_ptr<const Constraint>& constraint, std::string_view text) {
  ConstraintState state(constraint);
  return state.accept_text(text) == text.size() && state.can_end();
}

TEST_CASE("an equal demand is compiled once, another one is not mistaken for it") {
  Fixture fixture;
  const auto first = fixture.cache.get(regex("[ab]"));
  CHECK(fixture.cache.get(regex("[ab]")) == first);
  CHECK(fixture.cache.get(regex("[ac]")) != first);
  CHECK(fixture.cache.get(choice_of({"[ab]"})) != first);
  CHECK(allows(first, "a"));
  CHECK(allows(fixture.cache.get(regex("[ac]")), "c"));
  CHECK(allows(fixture.cache.get(choice_of({"[ab]"})), "[ab]"));
  Spec schema;
  schema.text = R"({"type": "array", "items": {"const": 1}})";
  const auto any = fixture.cache.get(schema);
  schema.white_space = Spec::WhiteSpace::usual;
  CHECK(fixture.cache.get(schema) != any);
  CHECK(allows(any, "[1,1]"));
  CHECK_FALSE(allows(fixture.cache.get(schema), "[1,1]"));
  CHECK(&any->vocabulary() == &first->vocabulary());
}

TEST_CASE("what was not demanded for longest is forgotten") {
  Fixture fixture;
  const auto kept = fixture.cache.get(choice_of({"often"}));
  const std::weak_ptr<const Constraint> forgotten = fixture.cache.get(choice_of({"once"}));
  CHECK_FALSE(forgotten.expired());
  for (std::size_t i = 0; i < ConstraintCache::kMostKept - 1; ++i) {
    fixture.cache.get(choice_of({std::to_string(i)}));
    CHECK(fixture.cache.get(choice_of({"often"})) == kept);
  }
  CHECK(forgotten.expired());
}

TEST_CASE("large demands are kept as long as all of them are not too large") {
  Fixture fixture;
  const std::string large(ConstraintCache::kMostTextKept / 2 + 1, 'x');
  const std::weak_ptr<const Constraint> small = fixture.cache.get(choice_of({"a"}));
  const std::weak_ptr<const Constraint> one = fixture.cache.get(choice_of({large}));
  CHECK_FALSE(small.expired());
  const std::weak_ptr<const Constraint> two = fixture.cache.get(choice_of({large + "y"}));
  CHECK_FALSE(two.expired());  // the one in use always
  CHECK(one.expired());
}

TEST_CASE("a demand that is wrong is refused each time, and spoils nothing") {
  Fixture fixture;
  for (int i = 0; i < 2; ++i) CHECK_THROWS_AS(fixture.cache.get(choice_of({})), Error);
  CHECK(allows(fixture.cache.get(choice_of({"a"})), "a"));
}

TEST_CASE("many threads demand at once") {
  Fixture fixture;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        const std::string text = std::to_string(i % 40);
        if (!allows(fixture.cache.get(choice_of({text})), text)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace glmhost::constraints
