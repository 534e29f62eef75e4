// One behaviour of the scheduler each: how an answer ends, its text, room, priorities, cancelling.
#include "inference/generation/scheduler.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <thread>

#include "tests/unit/inference/architectures/random_model.h"
#include "tests/unit/inference/generation/loaded_model.h"
#include "tests/unit/inference/generation/refused.h"

namespace glmhost::generation {

namespace {

// The bytes of one cache page of llama-a: 2 layers, 2 kv heads, 16 + 16 numbers of 2 bytes, 32 positions.
constexpr std::uint64_t kPage = 2 * 2 * 32 * 2 * 32;

SchedulerOptions with_pages(std::uint64_t pages, std::int32_t sequences = 32) {
  SchedulerOptions options;
  options.kv_bytes = pages * kPage;
  options.max_sequences = sequences;
  return options;
}

bool is_utf8(const std::string& text) {
  tokenizer::Utf8Stream characters;
  return characters.push(text) + characters.finish() == text;
}

// A request whose answer is long: greedy, none of the first tokens ends the turn.
GenerationRequest long_request(const LoadedModel& loaded, std::int32_t max_tokens, std::uint32_t first_seed = 3) {
  for (std::uint32_t seed = first_seed; seed < first_seed + 300; seed += 3) {
    GenerationRequest request = random_request(seed, 10, max_tokens);
    if (static_cast<std::int32_t>(run_alone(loaded, request).tokens.size()) == max_tokens) return request;
  }
  FAIL("no seed gives a long answer");
  return {};
}

}  // namespace

TEST_CASE("max_tokens ends an answer") {
  const LoadedModel loaded = load_small();
  const GenerationRequest request = long_request(loaded, 20);
  const Answer answer = run_alone(loaded, request);
  CHECK(answer.tokens.size() == 20);
  CHECK(answer.finished == FinishReason::length);
  CHECK(answer.text == [&] {
    tokenizer::Utf8Stream characters;
    return characters.push(loaded.tokenizer.decode(answer.tokens)) + characters.finish();
  }());
  GenerationRequest one = request;
  one.max_tokens = 1;
  CHECK(run_alone(loaded, one).tokens == std::vector<std::int32_t>{answer.tokens[0]});
}

TEST_CASE("the id that ends the turn is no part of the answer") {
  const LoadedModel loaded = load_small();
  bool seen = false;
  for (std::uint32_t seed = 0; seed < 400 && !seen; ++seed) {
    GenerationRequest request = random_request(seed, 5, 40);
    request.sampling.temperature = 2;
    const Answer answer = run_alone(loaded, request);
    for (const std::int32_t token : answer.tokens) CHECK_FALSE(loaded.tokenizer.is_end_of_generation(token));
    if (answer.finished == FinishReason::stop) {
      seen = true;
      CHECK(answer.tokens.size() < 40);
      CHECK(answer.events == static_cast<int>(answer.tokens.size()) + 1);
    }
  }
  CHECK(seen);
}

TEST_CASE("a full context ends an answer") {
  const LoadedModel loaded = load_small();
  const GenerationRequest longer = long_request(loaded, 100);
  GenerationRequest request = longer;
  request.max_tokens = std::numeric_limits<std::int32_t>::max();
  const Answer answer = run_alone(loaded, request, with_pages(2));
  CHECK(answer.finished == FinishReason::context);
  CHECK(answer.tokens.size() == 64 - request.prompt.size());
  // What was given is the beginning of the same answer with more room.
  const Answer more = run_alone(loaded, longer);
  CHECK(std::equal(answer.tokens.begin(), answer.tokens.end(), more.tokens.begin()));
}

TEST_CASE("a prompt that fills the context up to one token is answered, a longer one is refused with the numbers") {
  const LoadedModel loaded = load_small();
  kernels::ThreadPool pool(1);
  Scheduler scheduler(*loaded.model, loaded.tokenizer, pool, with_pages(2));
  CHECK(scheduler.context_tokens() == 64);
  GenerationRequest request = random_request(3, 63, 5);
  Answers answers;
  const std::optional<SequenceId> id = scheduler.add(request);
  REQUIRE(id);
  run_until_idle(scheduler, answers);
  CHECK(answers.of(*id).finished != FinishReason::length);
  CHECK(answers.of(*id).tokens.size() <= 1);
  request.prompt.resize(64);
  check_refused([&] { scheduler.add(request); }, ErrorKind::context_exceeded, {"64 tokens", "1 too many", "kv_bytes"});
  request.prompt.resize(1000);
  check_refused([&] { scheduler.check(request); }, ErrorKind::context_exceeded, {"1000", "937 too many"});
  CHECK(scheduler.idle());

  Scheduler whole(*loaded.model, loaded.tokenizer, pool, {});
  CHECK(whole.context_tokens() == 2048);
  request.prompt.resize(2048);
  check_refused([&] { whole.check(request); }, ErrorKind::context_exceeded, {"1 too many", "the model's context"});
}

TEST_CASE("bad requests are refused by name") {
  const LoadedModel loaded = load_small();
  kernels::ThreadPool pool(1);
  Scheduler scheduler(*loaded.model, loaded.tokenizer, pool, {});
  const auto refused = [&](auto change, std::initializer_list<std::string_view> words) {
    GenerationRequest request = random_request(1, 4, 4);
    change(request);
    check_refused([&] { scheduler.check(request); }, ErrorKind::bad_argument, words);
    check_refused([&] { scheduler.add(request); }, ErrorKind::bad_argument, words);
  };
  refused([](GenerationRequest& r) { r.prompt.clear(); }, {"prompt is empty"});
  refused([](GenerationRequest& r) { r.prompt[2] = 512; }, {"512", "0 to 511"});
  refused([](GenerationRequest& r) { r.prompt[2] = -1; }, {"-1"});
  refused([](GenerationRequest& r) { r.max_tokens = 0; }, {"max_tokens", "0"});
  refused([](GenerationRequest& r) { r.max_tokens = -7; }, {"max_tokens", "-7"});
  refused([](GenerationRequest& r) { r.stop = {"a", ""}; }, {"stop string is empty"});
  refused([](GenerationRequest& r) { r.stop.assign(17, "x"); }, {"17", "16"});
  refused([](GenerationRequest& r) { r.stop = {"\x80"}; }, {"UTF-8"});
  refused([](GenerationRequest& r) { r.stop = {"\xE4\xBD"}; }, {"UTF-8"});
  refused([](GenerationRequest& r) { r.sampling.temperature = -1; }, {"temperature"});
  CHECK(scheduler.idle());
  CHECK(scheduler.step().empty());

  for (const std::int32_t bad : {0, -1, 5000}) {
    SchedulerOptions options;
    options.max_sequences = bad;
    check_refused([&] { Scheduler(*loaded.model, loaded.tokenizer, pool, options); }, ErrorKind::bad_argument,
                  {"max_sequences"});
  }
  SchedulerOptions options;
  options.prompt_piece = 0;
  check_refused([&] { Scheduler(*loaded.model, loaded.tokenizer, pool, options); }, ErrorKind::bad_argument,
                {"prompt_piece"});
  options = {};
  options.kv_bytes = kPage - 1;
  check_refused([&] { Scheduler(*loaded.model, loaded.tokenizer, pool, options); }, ErrorKind::out_of_memory,
                {std::to_string(kPage)});
}

TEST_CASE("a stop string ends an answer wherever its tokens are cut, and is not shown") {
  const LoadedModel loaded = load_small();
  const GenerationRequest plain = long_request(loaded, 40);
  const Answer whole = run_alone(loaded, plain);
  int found = 0;
  for (std::size_t start = 1; start + 12 < whole.text.size(); ++start) {
    for (const std::size_t length : {1, 3, 7}) {
      GenerationRequest request = plain;
      request.stop = {"never in there", whole.text.substr(start, length)};
      if (!is_utf8(request.stop[1])) continue;
      const Answer answer = run_alone(loaded, request);
      CHECK(answer.finished == FinishReason::stop);
      CHECK(answer.text == whole.text.substr(0, whole.text.find(request.stop[1])));
      CHECK(std::equal(answer.tokens.begin(), answer.tokens.end(), whole.tokens.begin()));
      ++found;
    }
  }
  CHECK(found > 20);
}

TEST_CASE("text held back for a stop string comes when the answer ends otherwise") {
  const LoadedModel loaded = load_small();
  const GenerationRequest plain = long_request(loaded, 20);
  const Answer whole = run_alone(loaded, plain);
  std::size_t start = whole.text.size() - 4;
  while (!is_utf8(whole.text.substr(start))) --start;
  GenerationRequest request = plain;
  request.stop = {whole.text.substr(start) + "and more"};
  const Answer answer = run_alone(loaded, request);
  CHECK(answer.text == whole.text);
  CHECK(answer.finished == FinishReason::length);
}

TEST_CASE("log probabilities come with their tokens") {
  const LoadedModel loaded = load_small();
  GenerationRequest request = long_request(loaded, 12);
  CHECK(run_alone(loaded, request).choices.empty());
  request.sampling.logprobs = 3;
  const Answer answer = run_alone(loaded, request);
  REQUIRE(answer.choices.size() == answer.tokens.size());
  for (std::size_t i = 0; i < answer.tokens.size(); ++i) {
    CHECK(answer.choices[i].token == answer.tokens[i]);
    REQUIRE(answer.choices[i].logprobs.size() == 3);
    CHECK(answer.choices[i].logprobs[0].token == answer.tokens[i]);
    CHECK(answer.choices[i].logprobs[0].logprob <= 0);
  }
}

TEST_CASE("a sequence whose numbers break down fails alone") {
  const LoadedModel loaded(with_row("chatglm-a", "token_embd.weight", 77, std::numeric_limits<float>::quiet_NaN()));
  kernels::ThreadPool pool(2);
  Scheduler scheduler(*loaded.model, loaded.tokenizer, pool, {});
  GenerationRequest good = random_request(3, 8, 6);
  std::replace(good.prompt.begin(), good.prompt.end(), 77, 78);
  GenerationRequest bad = good;
  bad.prompt.back() = 77;
  Answers answers;
  const auto good_id = scheduler.add(good);
  const auto bad_id = scheduler.add(bad);
  run_until_idle(scheduler, answers);
  CHECK(answers.of(*bad_id).finished == FinishReason::failed);
  CHECK(answers.of(*bad_id).failure.find("no usable numbers") != std::string::npos);
  CHECK(answers.of(*bad_id).tokens.empty());
  CHECK(answers.of(*good_id).finished != FinishReason::failed);
  CHECK(answers.of(*good_id).tokens == run_alone(loaded, good).tokens);
  CHECK(scheduler.kv_bytes_used() == 0);
}

TEST_CASE("what does not fit now is taken later, and what was taken is never refused") {
  const LoadedModel loaded = load_small();
  kernels::ThreadPool pool(1);
  Scheduler scheduler(*loaded.model, loaded.tokenizer, pool, with_pages(4));
  Answers answers;
  const GenerationRequest two_pages = long_request(loaded, 40);
  const auto first = scheduler.add(two_pages);
  const auto second = scheduler.add(two_pages);
  REQUIRE(first);
  REQUIRE(second);
  CHECK_FALSE(scheduler.add(random_request(1, 1, 1)).has_value());  // all pages are set aside, though none is taken yet
  CHECK(scheduler.kv_bytes_used() == 0);
  run_until_idle(scheduler, answers);
  CHECK(answers.of(*first).tokens.size() == 40);
  CHECK(answers.of(*second).tokens == answers.of(*first).tokens);
  CHECK(scheduler.add(two_pages).has_value());

  Scheduler few(*loaded.model, loaded.tokenizer, pool, with_pages(100, 2));
  CHECK(few.add(two_pages).has_value());
  CHECK(few.add(two_pages).has_value());
  CHECK_FALSE(few.add(two_pages).has_value());
  CHECK(few.running() == 2);
}

TEST_CASE("batch work rests while interactive work is there") {
  const LoadedModel loaded = load_small();
  kernels::ThreadPool pool(1);
  Scheduler scheduler(*loaded.model, loaded.tokenizer, pool, {});
  Answers answers;
  GenerationRequest slow = long_request(loaded, 30);
  slow.priority = Priority::batch;
  const auto batch = scheduler.add(slow);
  for (int i = 0; i < 5; ++i) answers.take(scheduler.step());
  const std::size_t before = answers.of(*batch).tokens.size();
  CHECK(before > 0);
  const std::uint64_t held = scheduler.kv_bytes_used();
  const auto interactive = scheduler.add(random_request(3, 10, 8));
  while (!answers.of(*interactive).finished) {
    answers.take(scheduler.step());
    CHECK(answers.of(*batch).tokens.size() == before);
  }
  CHECK(scheduler.kv_bytes_used() == held);  // the cache was kept
  run_until_idle(scheduler, answers);
  CHECK(answers.of(*batch).tokens == run_alone(loaded, slow).tokens);
}

TEST_CASE("interactive work takes room from batch work, which goes on later as if nothing had happened") {
  const LoadedModel loaded = load_small();
  kernels::ThreadPool pool(1);
  const GenerationRequest interactive = long_request(loaded, 40);
  GenerationRequest slow = long_request(loaded, 45, 60);
  slow.priority = Priority::batch;
  const Answer expected = run_alone(loaded, slow);
  for (const SchedulerOptions& options : {with_pages(4), with_pages(100, 2)}) {
    Scheduler scheduler(*loaded.model, loaded.tokenizer, pool, options);
    Answers answers;
    const auto older = scheduler.add(slow);
    const auto younger = scheduler.add(slow);
    REQUIRE(younger);
    CHECK_FALSE(scheduler.add(slow).has_value());
    for (int i = 0; i < 20; ++i) answers.take(scheduler.step());
    const auto urgent = scheduler.add(interactive);
    REQUIRE(urgent);
    CHECK(scheduler.running() == 3);
    CHECK_FALSE(scheduler.add(slow).has_value());  // those that lost their room go first
    run_until_idle(scheduler, answers);
    CHECK(answers.of(*urgent).tokens == run_alone(loaded, interactive).tokens);
    CHECK(answers.of(*older).tokens == expected.tokens);
    CHECK(answers.of(*younger).tokens == expected.tokens);
    CHECK(answers.of(*younger).text == expected.text);
    CHECK(scheduler.kv_bytes_used() == 0);
  }
  // Other interactive work is never put aside.
  Scheduler scheduler(*loaded.model, loaded.tokenizer, pool, with_pages(4));
  CHECK(scheduler.add(interactive).has_value());
  CHECK(scheduler.add(slow).has_value());
  CHECK(scheduler.add(interactive).has_value());
  CHECK_FALSE(scheduler.add(interactive).has_value());
  // A request that would not fit even then puts nobody aside.
  Scheduler full(*loaded.model, loaded.tokenizer, pool, with_pages(4));
  CHECK(full.add(interactive).has_value());
  const auto kept = full.add(slow);
  GenerationRequest three_pages = interactive;
  three_pages.max_tokens = 80;
  CHECK_FALSE(full.add(three_pages).has_value());
  Answers answers;
  for (int i = 0; i < 41; ++i) answers.take(full.step());
  CHECK(full.running() == 1);
  answers.take(full.step());
  answers.take(full.step());
  CHECK(answers.of(*kept).tokens.size() >= 1);
}

TEST_CASE("cancelled sequences end at the next step and give everything back") {
  const LoadedModel loaded = load_small();
  kernels::ThreadPool pool(1);
  Scheduler scheduler(*loaded.model, loaded.tokenizer, pool, {});
  Answers answers;
  const GenerationRequest request = long_request(loaded, 30);
  const auto before_start = scheduler.add(request);
  scheduler.cancel(*before_start);
  answers.take(scheduler.step());
  CHECK(answers.of(*before_start).finished == FinishReason::cancelled);
  CHECK(answers.of(*before_start).tokens.empty());
  CHECK(scheduler.idle());

  const auto kept = scheduler.add(request);
  const auto dropped = scheduler.add(request);
  for (int i = 0; i < 4; ++i) answers.take(scheduler.step());
  scheduler.cancel(*dropped);
  scheduler.cancel(*dropped);  // once more does no harm
  scheduler.cancel(987654);    // nor does an unknown one
  const std::size_t had = answers.of(*dropped).tokens.size();
  answers.take(scheduler.step());
  CHECK(answers.of(*dropped).finished == FinishReason::cancelled);
  CHECK(answers.of(*dropped).tokens.size() == had);
  run_until_idle(scheduler, answers);
  scheduler.cancel(*kept);  // already finished
  CHECK(scheduler.step().empty());
  CHECK(answers.of(*kept).tokens.size() == 30);
  CHECK(answers.of(*kept).finished == FinishReason::length);
  CHECK(scheduler.kv_bytes_used() == 0);
}

TEST_CASE("a pass that nobody needs any more is abandoned, one that somebody needs is not") {
  const LoadedModel loaded = load_small("gemma3-a");
  kernels::ThreadPool pool(2);
  SchedulerOptions options;
  options.prompt_piece = 2000;
  for (const bool mate : {false, true}) {
    for (int round = 0; round < 20; ++round) {
      Scheduler scheduler(*loaded.model, loaded.tokenizer, pool, options);
      Answers answers;
      // A first, short prompt teaches the cost, so that the long one is taken in long pieces.
      const auto teacher = scheduler.add(random_request(3, 64, 1));
      run_until_idle(scheduler, answers);
      CHECK(answers.of(*teacher).finished.has_value());
      const auto id = scheduler.add(random_request(3, 1500, 400));
      const auto other = mate ? scheduler.add(random_request(6, 20, 5)) : std::nullopt;
      std::atomic<bool> go = false;
      std::thread canceller([&] {
        while (!go) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::microseconds(100 * round));
        scheduler.cancel(*id);
      });
      go = true;
      while (!answers.of(*id).finished) answers.take(scheduler.step());
      canceller.join();
      run_until_idle(scheduler, answers);
      CHECK(answers.of(*id).finished == FinishReason::cancelled);
      if (mate) CHECK(answers.of(*other).tokens == run_alone(loaded, random_request(6, 20, 5)).tokens);
      CHECK(scheduler.kv_bytes_used() == 0);
    }
  }
}

TEST_CASE("counters count what was done") {
  const LoadedModel loaded = load_small();
  kernels::ThreadPool pool(1);
  Scheduler scheduler(*loaded.model, loaded.tokenizer, pool, {});
  Answers answers;
  const GenerationRequest request = long_request(loaded, 12);
  scheduler.add(request);
  scheduler.add(request);
  run_until_idle(scheduler, answers);
  CHECK(scheduler.counters().prompt_tokens == 20);
  CHECK(scheduler.counters().generated_tokens == 24);
  CHECK(scheduler.counters().steps == 12);
  CHECK(scheduler.kv_bytes_total() == 2048 / 32 * kPage);
}

TEST_CASE("padding rows of the vocabulary are never sampled") {
  architectures::RandomModel description;
  description.vocabulary = 64;
  description.tokens = 40;
  const LoadedModel loaded(description.file());
  REQUIRE(loaded.tokenizer.vocabulary_size() == 40);
  REQUIRE(loaded.model->hyperparameters().vocabulary == 64);
  GenerationRequest request;
  request.prompt = {1, 2, 3};
  request.max_tokens = 64;
  request.sampling.temperature = 10;
  request.sampling.logprobs = 20;
  std::int32_t highest = 0;
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    request.sampling.seed = seed;
    for (const Choice& choice : run_alone(loaded, request).choices) {
      for (const TokenLogprob& token : choice.logprobs) highest = std::max(highest, token.token);
    }
  }
  CHECK(highest == 39);
}

}  // namespace glmhost::generation
