#include "host/daemon/engine.h"

#include <algorithm>

namespace glmhost::daemon {
namespace {

using protocol::ErrorCode;

double milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

// The bytes of a token as text: a part of a character becomes U+FFFD.
std::string token_text(const tokenizer::Tokenizer& tokenizer, std::int32_t token) {
  tokenizer::Utf8Stream characters;
  std::string text = characters.push(tokenizer.bytes(token, true));
  return text + characters.finish();
}

std::vector<TokenLogprobs> to_logprobs(const tokenizer::Tokenizer& tokenizer,
                                       const std::vector<generation::Choice>& choices) {
  std::vector<TokenLogprobs> logprobs;
  for (const generation::Choice& choice : choices) {
    TokenLogprobs& token = logprobs.emplace_back();
    for (const generation::TokenLogprob& one : choice.logprobs) {
      token.push_back({token_text(tokenizer, one.token), one.logprob, one.constrained_logprob});
    }
  }
  return logprobs;
}

std::string_view reason_name(generation::FinishReason reason) {
  switch (reason) {
    case generation::FinishReason::stop:
      return "stop";
    case generation::FinishReason::length:
      return "length";
    case generation::FinishReason::context:
      return "context";
    case generation::FinishReason::cancelled:
      return "cancelled";
    case generation::FinishReason::failed:
      return "failed";
  }
  return "failed";
}

class Engine {
 public:
  explicit Engine(Core& core) : core_(core), lock_(core.mutex) {}

  void run() {
    while (!core_.ended) {
      for (const ModelPtr& model : active_models()) take_in(*model);
      const std::vector<ModelPtr> turn = whose_turn();
      if (turn.empty()) {
        core_.engine_wake.wait(lock_);
        continue;
      }
      for (const ModelPtr& model : turn) step(model);
    }
  }

 private:
  std::vector<ModelPtr> active_models() const {
    std::vector<ModelPtr> models;
    for (const auto& [lane, model] : core_.active) models.push_back(model);
    return models;
  }

  // Takes jobs into the scheduler as long as it has room. A job that finds none keeps its turn: smaller ones behind it
  // would otherwise pass it for ever.
  void take_in(LoadedModel& model) {
    while (const std::optional<JobId> next = core_.waiting.next(model.lane)) {
      Job& job = *core_.find(*next);
      std::optional<generation::SequenceId> sequence;
      try {
        sequence = model.scheduler->add(*job.generation);
      } catch (const Error& error) {
        core_.waiting.take(job.id);
        core_.fail(job, to_message(error));
        continue;
      }
      if (!sequence) return;
      core_.waiting.take(job.id);
      job.sequence = *sequence;
      job.phase = Phase::running;
      if (job.started == Clock::time_point{}) job.started = Clock::now();
      ++model.running;
      if (job.generation->priority == generation::Priority::interactive) ++model.running_interactive;
      running_[{model.lane, *sequence}] = job.id;
    }
  }

  // Interactive work first, also across models.
  std::vector<ModelPtr> whose_turn() const {
    std::vector<ModelPtr> models = active_models();
    std::erase_if(models, [](const ModelPtr& model) { return model->running == 0; });
    const auto interactive = [](const ModelPtr& model) { return model->running_interactive > 0; };
    if (std::any_of(models.begin(), models.end(), interactive)) {
      std::erase_if(models, [&](const ModelPtr& model) { return !interactive(model); });
    }
    return models;
  }

  void step(const ModelPtr& model) {
    const generation::Scheduler::Counters before = model->scheduler->counters();
    std::vector<generation::SequenceEvent> events;
    std::string failure;
    lock_.unlock();
    try {
      events = model->scheduler->step();
    } catch (const std::exception& error) {
      failure = error.what();
    }
    const generation::Scheduler::Counters after = model->scheduler->counters();
    const std::uint64_t cache_used = model->scheduler->kv_bytes_used();
    lock_.lock();
    core_.counters.prompt_tokens += after.prompt_tokens - before.prompt_tokens;
    core_.counters.generated_tokens += after.generated_tokens - before.generated_tokens;
    core_.counters.steps += after.steps - before.steps;
    model->cache_touched = std::max(model->cache_touched, cache_used);
    for (generation::SequenceEvent& event : events) apply(*model, event);
    if (!failure.empty()) give_up(model, failure);
  }

  void apply(LoadedModel& model, generation::SequenceEvent& event) {
    const auto found = running_.find({model.lane, event.sequence});
    if (found == running_.end()) return;
    Job& job = *core_.find(found->second);
    if (job.first_token == Clock::time_point{} && (!event.tokens.empty() || event.finished)) {
      job.first_token = Clock::now();
      job.usage.prompt_ms = milliseconds(job.first_token - job.started);
    }
    job.usage.generated_tokens += static_cast<std::uint32_t>(event.tokens.size());
    job.usage.cached_prompt_tokens = static_cast<std::uint32_t>(event.reused_prompt_tokens);
    job.answer.add(event.text, to_logprobs(model.tokenizer, event.choices));
    if (!event.finished) return core_.deliver(job);
    running_.erase(found);
    leave_scheduler(model, job);
    finished(job, *event.finished, event.failure);
  }

  void leave_scheduler(LoadedModel& model, const Job& job) {
    --model.running;
    if (job.generation->priority == generation::Priority::interactive) --model.running_interactive;
  }

  void finished(Job& job, generation::FinishReason reason, const std::string& failure) {
    using generation::FinishReason;
    log(job, reason);
    if (reason == FinishReason::cancelled && job.restart) return run_again(job);
    if (job.abandoned || job.subscribers.empty() || reason == FinishReason::cancelled) {
      return core_.fail(job, {ErrorCode::cancelled, "The request was cancelled."});
    }
    if (reason == FinishReason::failed) return core_.fail(job, {ErrorCode::backend_failed, failure});
    job.usage.decode_ms = milliseconds(Clock::now() - job.first_token);
    job.finish_reason = reason_name(reason);
    job.answer.end();
    if (reason == FinishReason::stop && !job.answer.tool_calls().empty()) job.finish_reason = "tool_calls";
    // Where the context ended the answer, its length depends on the cache that the model was given this time.
    const bool keep = core_.memo != nullptr && job.key && reason != FinishReason::context;
    if (!keep) return core_.finish(job);
    job.phase = Phase::storing;
    core_.deliver(job);
    core_.to_store.emplace_back(job.id, std::pair(*job.key, to_keep(job)));
    core_.memo_wake.notify_all();
  }

  static MemoAnswer to_keep(const Job& job) {
    return {.content = job.answer.content(),
            .reasoning = job.answer.reasoning(),
            .finish_reason = job.finish_reason,
            .prompt_tokens = job.usage.prompt_tokens,
            .generated_tokens = job.usage.generated_tokens,
            .logprobs = job.answer.logprobs(),
            .tool_calls = job.answer.tool_calls()};
  }

  void run_again(Job& job) {
    job.restart = false;
    job.answer.restart();
    job.usage.generated_tokens = 0;
    auto generation = std::make_shared<generation::GenerationRequest>(*job.generation);
    generation->priority = generation::Priority::interactive;
    job.generation = std::move(generation);
    job.phase = Phase::queued;
    core_.waiting.put_back({job.id, job.client, Priority::interactive, job.model->lane});
  }

  // A scheduler that threw is in an unknown state: its jobs fail, and the model is loaded anew when it is wanted.
  void give_up(const ModelPtr& model, const std::string& failure) {
    core_.log.error("computing with " + model->stored.name + " failed: " + failure);
    std::vector<JobId> jobs;
    for (const auto& [id, job] : core_.jobs) {
      if (job->model == model && job->phase != Phase::storing) jobs.push_back(id);
    }
    core_.models.put_aside(model);
    std::erase_if(running_, [&](const auto& entry) { return entry.first.first == model->lane; });
    model->running = model->running_interactive = 0;
    for (const JobId id : jobs) {
      core_.waiting.remove(id);
      core_.fail(*core_.find(id), {ErrorCode::backend_failed, "Computing the answer failed: " + failure});
    }
  }

  void log(const Job& job, generation::FinishReason reason) const {
    core_.log.info("request " + std::to_string(job.id) + ", " + job.model_name + ": " +
                   std::string(reason_name(reason)) + ", " + std::to_string(job.usage.prompt_tokens) +
                   " prompt tokens, " + std::to_string(job.usage.generated_tokens) + " generated");
  }

  Core& core_;
  std::unique_lock<std::mutex> lock_;  // held but while computing and waiting
  std::map<std::pair<LaneId, generation::SequenceId>, JobId> running_;
};

}  // namespace

void run_engine(Core& core) {
  Engine(core).run();
}

}  // namespace glmhost::daemon
