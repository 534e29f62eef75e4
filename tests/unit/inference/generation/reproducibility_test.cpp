// The same request gives the same tokens, whatever else is in the batch, on any number of threads, in any pieces; and
// thousands of random requests and cancellations leave no page behind.
#include <doctest/doctest.h>

#include <deque>
#include <random>

#include "tests/unit/inference/generation/loaded_model.h"

namespace glmhost::generation {

namespace {

constexpr std::uint32_t kRequests = 24;

GenerationRequest request_number(std::uint32_t i) {
  GenerationRequest request = random_request(i, 1 + (i * 37) % 90, static_cast<std::int32_t>(1 + (i * 13) % 40));
  if (i % 4 == 3) request.priority = Priority::batch;
  if (i % 6 == 5) request.stop = {"e", "zz"};
  return request;
}

}  // namespace

TEST_CASE("random schedules never change an answer") {
  for (const std::string name : {"llama-a", "gemma3-a"}) {
    CAPTURE(name);
    const LoadedModel loaded = load_small(name);
    std::vector<Answer> expected;
    for (std::uint32_t i = 0; i < kRequests; ++i) expected.push_back(run_alone(loaded, request_number(i)));

    std::mt19937 random(5);
    for (int round = 0; round < 12; ++round) {
      CAPTURE(round);
      kernels::ThreadPool pool(1 + round % 2);
      SchedulerOptions options;
      options.prompt_piece = static_cast<std::int32_t>(1 + random() % 70);
      options.max_sequences = static_cast<std::int32_t>(1 + random() % 9);
      // From barely one of the longest requests to plenty of room.
      options.kv_bytes = loaded.model->page_bytes() * (4 + random() % 20);
      Scheduler scheduler(*loaded.model, loaded.tokenizer, pool, options);

      struct Sent {
        std::uint32_t number;
        SequenceId id;
        bool cancelled = false;
      };
      std::vector<Sent> sent;
      std::deque<std::uint32_t> waiting;
      for (std::uint32_t i = 0; i < kRequests; ++i) waiting.push_back(i);
      std::shuffle(waiting.begin(), waiting.end(), random);
      Answers answers;
      for (int steps = 0; !waiting.empty() || !scheduler.idle(); ++steps) {
        REQUIRE(steps < 20000);
        while (!waiting.empty() && random() % 3 == 0) {
          const auto id = scheduler.add(request_number(waiting.front()));
          if (!id) break;
          sent.push_back({waiting.front(), *id});
          waiting.pop_front();
        }
        if (!sent.empty() && random() % 12 == 0) {
          Sent& victim = sent[random() % sent.size()];
          if (!answers.of(victim.id).finished) {
            victim.cancelled = true;
            scheduler.cancel(victim.id);
          }
        }
        answers.take(scheduler.step());
      }
      REQUIRE(sent.size() == kRequests);
      for (const Sent& one : sent) {
        CAPTURE(one.number);
        const Answer& answer = answers.of(one.id);
        const Answer& alone = expected[one.number];
        REQUIRE(answer.finished.has_value());
        if (one.cancelled) {
          CHECK(answer.finished == FinishReason::cancelled);
          REQUIRE(answer.tokens.size() <= alone.tokens.size());
          CHECK(std::equal(answer.tokens.begin(), answer.tokens.end(), alone.tokens.begin()));
        } else {
          CHECK(answer.tokens == alone.tokens);
          CHECK(answer.text == alone.text);
          CHECK(answer.finished == alone.finished);
        }
      }
      CHECK(scheduler.kv_bytes_used() == 0);
    }
  }
}

TEST_CASE("thousands of random requests and cancellations leave no page behind") {
  const LoadedModel loaded = load_small();
  kernels::ThreadPool pool(1);
  SchedulerOptions options;
  options.kv_bytes = loaded.model->page_bytes() * 16;
  options.max_sequences = 12;
  Scheduler scheduler(*loaded.model, loaded.tokenizer, pool, options);
  std::mt19937 random(9);
  std::vector<SequenceId> live;
  std::uint32_t added = 0;
  std::uint32_t finished = 0;
  while (added < 3000 || !scheduler.idle()) {
    while (added < 3000 && random() % 2 == 0) {
      GenerationRequest request = random_request(added, 1 + random() % 40, static_cast<std::int32_t>(1 + random() % 4));
      request.priority = random() % 2 == 0 ? Priority::interactive : Priority::batch;
      const auto id = scheduler.add(request);
      if (!id) break;
      live.push_back(*id);
      ++added;
    }
    if (!live.empty() && random() % 2 == 0) scheduler.cancel(live[random() % live.size()]);
    for (const SequenceEvent& event : scheduler.step()) {
      if (!event.finished) continue;
      ++finished;
      std::erase(live, event.sequence);
    }
    CHECK(scheduler.kv_bytes_used() <= scheduler.kv_bytes_total());
    CHECK(scheduler.running() == static_cast<std::int32_t>(live.size()));
  }
  CHECK(finished == 3000);
  CHECK(live.empty());
  CHECK(scheduler.kv_bytes_used() == 0);
  // All room is free again: a request for nearly all of it fits.
  CHECK(scheduler.add(random_request(1, 450, 50)).has_value());
}

}  // namespace glmhost::generation
