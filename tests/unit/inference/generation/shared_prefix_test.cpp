// Prompts that begin alike: the common part is computed once, and answers stay what they are.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "inference/kernels/matmul.h"
#include "tests/unit/inference/generation/loaded_model.h"

namespace glmhost::generation {

namespace {

// A prompt of `shared` tokens of one stream and `own` tokens of another.
GenerationRequest request_with(std::uint32_t prefix_seed, std::size_t shared, std::uint32_t seed, std::size_t own,
                               std::int32_t max_tokens) {
  GenerationRequest request = random_request(seed, own, max_tokens);
  const GenerationRequest prefix = random_request(prefix_seed, shared, 1);
  request.prompt.insert(request.prompt.begin(), prefix.prompt.begin(), prefix.prompt.end());
  return request;
}

}  // namespace

TEST_CASE("a prompt that was there before is not computed again, but for its last page") {
  const LoadedModel loaded = load_small("gemma3-a");
  for (const std::size_t length : {31, 32, 33, 64, 65, 200}) {
    CAPTURE(length);
    kernels::ThreadPool pool(1);
    Scheduler scheduler(*loaded.model, loaded.tokenizer, pool, {});
    Answers answers;
    const GenerationRequest request = random_request(7, length, 10);
    const auto first = scheduler.add(request);
    run_until_idle(scheduler, answers);
    CHECK(scheduler.counters().prompt_tokens == length);
    CHECK(scheduler.counters().reused_tokens == 0);
    CHECK(scheduler.kv_bytes_used() == 0);
    const auto second = scheduler.add(request);
    run_until_idle(scheduler, answers);
    const std::uint64_t reused = (length - 1) / 32 * 32;  // the logits of the last token must be computed
    CHECK(scheduler.counters().reused_tokens == reused);
    CHECK(scheduler.counters().prompt_tokens == 2 * length - reused);
    CHECK(answers.of(*second).tokens == answers.of(*first).tokens);
    CHECK(answers.of(*second).text == answers.of(*first).text);
    // Where a matrix unit computes prompts, pages with tokens of the answer are not kept: they differ in the last bits.
    const std::size_t kept = kernels::has_bulk_products() ? length : length + answers.of(*first).tokens.size() - 1;
    const bool full_page = kept >= 32;
    CHECK((scheduler.kv_bytes_kept() > 0) == full_page);
  }
}

TEST_CASE("the next turn of a conversation takes over prompt and, where that changes no bit, answer of the last") {
  const LoadedModel loaded = load_small();
  kernels::ThreadPool pool(1);
  Scheduler scheduler(*loaded.model, loaded.tokenizer, pool, {});
  Answers answers;
  GenerationRequest turn;
  for (std::uint32_t seed = 3; seed < 300; seed += 3) {
    turn = random_request(seed, 40, 60);
    if (run_alone(loaded, turn).tokens.size() == 60) break;
  }
  const auto first = scheduler.add(turn);
  run_until_idle(scheduler, answers);
  REQUIRE(answers.of(*first).tokens.size() == 60);
  GenerationRequest next = turn;
  next.prompt.insert(next.prompt.end(), answers.of(*first).tokens.begin(), answers.of(*first).tokens.end());
  next.prompt.push_back(17);
  const auto second = scheduler.add(next);
  run_until_idle(scheduler, answers);
  CHECK(scheduler.counters().reused_tokens == (kernels::has_bulk_products() ? 32 : 96));
  CHECK(answers.of(*second).tokens == run_alone(loaded, next).tokens);
}

TEST_CASE("of many prompts that come together with a common beginning one computes it") {
  const LoadedModel loaded = load_small("chatglm-a");
  kernels::ThreadPool pool(2);
  SchedulerOptions options;
  options.kv_bytes = 20 * 7 * loaded.model->page_bytes();
  Scheduler scheduler(*loaded.model, loaded.tokenizer, pool, options);
  Answers answers;
  std::vector<SequenceId> ids;
  for (std::uint32_t row = 0; row < 20; ++row) {
    const auto id = scheduler.add(request_with(5, 200, row + 1, 9, 4));
    REQUIRE(id);
    ids.push_back(*id);
  }
  run_until_idle(scheduler, answers);
  // 192 of the 200 tokens fill pages.
  CHECK(scheduler.counters().prompt_tokens == 192 + 20 * (200 - 192 + 9));
  CHECK(scheduler.counters().reused_tokens == 19 * 192);
  for (std::uint32_t row = 0; row < 20; ++row) {
    CHECK(answers.of(ids[row]).tokens == run_alone(loaded, request_with(5, 200, row + 1, 9, 4)).tokens);
  }
}

TEST_CASE("sequences share pages: more of them fit than would alone") {
  const LoadedModel loaded = load_small();
  kernels::ThreadPool pool(1);
  SchedulerOptions options;
  options.kv_bytes = 12 * loaded.model->page_bytes();
  Scheduler scheduler(*loaded.model, loaded.tokenizer, pool, options);
  Answers answers;
  scheduler.add(request_with(5, 256, 1, 1, 1));
  run_until_idle(scheduler, answers);
  // Eight pages are shared, one is each one's own.
  for (std::uint32_t row = 0; row < 4; ++row) CHECK(scheduler.add(request_with(5, 256, row, 5, 5)).has_value());
  CHECK_FALSE(scheduler.add(request_with(5, 256, 9, 5, 5)).has_value());
  run_until_idle(scheduler, answers);
  CHECK(scheduler.kv_bytes_used() == 0);
}

TEST_CASE("when the one that computes the common part is cancelled, another goes on") {
  const LoadedModel loaded = load_small();
  kernels::ThreadPool pool(1);
  SchedulerOptions options;
  options.prompt_piece = 40;
  Scheduler scheduler(*loaded.model, loaded.tokenizer, pool, options);
  Answers answers;
  const auto first = scheduler.add(request_with(5, 300, 1, 9, 4));
  const auto second = scheduler.add(request_with(5, 300, 2, 9, 4));
  for (int i = 0; i < 3; ++i) answers.take(scheduler.step());
  scheduler.cancel(*first);
  run_until_idle(scheduler, answers);
  CHECK(answers.of(*first).finished == FinishReason::cancelled);
  CHECK(answers.of(*second).tokens == run_alone(loaded, request_with(5, 300, 2, 9, 4)).tokens);
  CHECK(scheduler.counters().reused_tokens > 0);
}

TEST_CASE("kept pages give way to sequences, in the end all of them") {
  const LoadedModel loaded = load_small();
  kernels::ThreadPool pool(1);
  SchedulerOptions options;
  options.kv_bytes = 6 * loaded.model->page_bytes();
  Scheduler scheduler(*loaded.model, loaded.tokenizer, pool, options);
  Answers answers;
  for (std::uint32_t i = 0; i < 20; ++i) {
    scheduler.add(random_request(i, 70, 4));
    run_until_idle(scheduler, answers);
    CHECK(scheduler.kv_bytes_used() == 0);
    CHECK(scheduler.kv_bytes_kept() <= scheduler.kv_bytes_total());
  }
  const auto whole = scheduler.add(random_request(99, 190, 1));
  REQUIRE(whole);
  run_until_idle(scheduler, answers);
  CHECK(answers.of(*whole).tokens == run_alone(loaded, random_request(99, 190, 1)).tokens);
}

TEST_CASE("random trees of prompts, joins, cancellations and shortage never change an answer") {
  const LoadedModel loaded = load_small("glm4-a");
  constexpr std::uint32_t kRequests = 40;
  const auto request_number = [](std::uint32_t i) {
    GenerationRequest request = request_with(i % 2, 33 + 32 * (i % 3), 3 + i % 5, 1 + (i * 29) % 70,
                                             static_cast<std::int32_t>(1 + (i * 13) % 40));
    request.sampling.seed = i;
    if (i % 3 == 0) request.priority = Priority::batch;
    return request;
  };
  std::vector<Answer> expected;
  for (std::uint32_t i = 0; i < kRequests; ++i) expected.push_back(run_alone(loaded, request_number(i)));
  std::mt19937 random(3);
  for (int round = 0; round < 12; ++round) {
    CAPTURE(round);
    kernels::ThreadPool pool(1 + round % 2);
    SchedulerOptions options;
    options.prompt_piece = static_cast<std::int32_t>(1 + random() % 90);
    options.max_sequences = static_cast<std::int32_t>(1 + random() % 12);
    options.kv_bytes = loaded.model->page_bytes() * (7 + random() % 20);
    Scheduler scheduler(*loaded.model, loaded.tokenizer, pool, options);
    std::vector<std::uint32_t> waiting(kRequests);
    for (std::uint32_t i = 0; i < kRequests; ++i) waiting[i] = i;
    std::shuffle(waiting.begin(), waiting.end(), random);
    std::map<SequenceId, std::uint32_t> numbers;
    std::map<SequenceId, bool> cancelled;
    Answers answers;
    for (int steps = 0; !waiting.empty() || !scheduler.idle(); ++steps) {
      REQUIRE(steps < 20000);
      while (!waiting.empty() && random() % 3 != 0) {
        const auto id = scheduler.add(request_number(waiting.back()));
        if (!id) break;
        numbers[*id] = waiting.back();
        waiting.pop_back();
      }
      if (!numbers.empty() && random() % 10 == 0) {
        const auto victim = std::next(numbers.begin(), static_cast<std::ptrdiff_t>(random() % numbers.size()))->first;
        if (!answers.of(victim).finished) {
          cancelled[victim] = true;
          scheduler.cancel(victim);
        }
      }
      answers.take(scheduler.step());
      CHECK(scheduler.kv_bytes_used() + scheduler.kv_bytes_kept() <= scheduler.kv_bytes_total());
    }
    for (const auto& entry : numbers) {
      const auto& id = entry.first;
      const auto& number = entry.second;
      CAPTURE(number);
      if (cancelled[id]) {
        CHECK(answers.of(id).finished == FinishReason::cancelled);
      } else {
        CHECK(answers.of(id).tokens == expected[number].tokens);
        CHECK(answers.of(id).finished == expected[number].finished);
      }
    }
    CHECK(scheduler.kv_bytes_used() == 0);
  }
}

}  // namespace glmhost::generation
