// How jobs go on, once they are known: shared, delivered, finished.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "host/daemon/core.h"

namespace glmhost::daemon {
namespace {

using protocol::ErrorMessage;

double milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

}  // namespace

Job* Core::find(JobId job) {
  const auto found = jobs.find(job);
  return found == jobs.end() ? nullptr : found->second.get();
}

void Core::send(PeerId peer, std::uint64_t id, protocol::DaemonMessage message) {
  outbox.push_back({peer, {id, std::move(message)}});
  wake_io();
}

void Core::accept(Job& job, std::size_t position) {
  for (const SubscriberKey& key : job.subscribers) {
    bool& accepted = subscribers.at(key).accepted;
    if (std::exchange(accepted, true)) continue;
    send(key.first, key.second, protocol::Accepted{job.model_name, static_cast<std::uint32_t>(position)});
  }
}

void Core::deliver(Job& job) {
  for (const SubscriberKey& key : job.subscribers) {
    Subscriber& subscriber = subscribers.at(key);
    if (subscriber.credits == 0) continue;
    if (auto delta = next_delta(job.answer, subscriber.cursor)) {
      --subscriber.credits;
      send(key.first, key.second, std::move(*delta));
    }
  }
}

void Core::finish(Job& job, bool from_memo) {
  protocol::Result result;
  result.content = job.answer.content();
  result.reasoning = job.answer.reasoning();
  result.tool_calls = job.answer.tool_calls();
  result.finish_reason = job.finish_reason;
  result.model = job.model_name;
  result.from_memo = from_memo;
  deliver(job);
  for (const SubscriberKey& key : job.subscribers) {
    Subscriber& subscriber = subscribers.at(key);
    // Text that found no credit is in the result; probabilities are in deltas only, and the last one needs no credit.
    if (subscriber.streams && subscriber.cursor.logprobs < job.answer.logprobs().size()) {
      if (auto rest = next_delta(job.answer, subscriber.cursor)) send(key.first, key.second, std::move(*rest));
    }
    result.usage = job.usage;
    const Clock::time_point begun = job.started == Clock::time_point{} ? Clock::now() : job.started;
    result.usage.queue_ms = std::max(0.0, milliseconds(begun - subscriber.arrival));
    send(key.first, key.second, result);
    if (job.purpose == Purpose::generate) ++counters.answered;
    if (from_memo) ++counters.from_memo;
    remove_subscriber(key);
  }
  job.subscribers.clear();
  erase(job);
}

void Core::fail(Job& job, const ErrorMessage& error) {
  for (const SubscriberKey& key : job.subscribers) {
    send(key.first, key.second, error);
    if (job.purpose == Purpose::generate) ++counters.failed;
    remove_subscriber(key);
  }
  job.subscribers.clear();
  erase(job);
}

void Core::unpublish(Job& job) {
  if (!job.key) return;
  by_key.erase(*job.key);
  job.key.reset();
}

Job* Core::publish(Job& job, const Hash128& key) {
  const auto [place, is_new] = by_key.emplace(key, job.id);
  if (is_new) {
    job.key = key;
    return nullptr;
  }
  Job& other = *find(place->second);
  const std::vector<SubscriberKey> moving = std::exchange(job.subscribers, {});
  const Priority priority = job.priority;
  erase(job);
  for (const SubscriberKey& subscriber : moving) {
    subscribers.at(subscriber).job = other.id;
    other.subscribers.push_back(subscriber);
    ++counters.coalesced;
  }
  accept(other, waiting.ahead(other.id).value_or(0));
  if (priority == Priority::interactive && other.priority == Priority::batch) promote(other);
  deliver(other);
  return &other;
}

// Somebody waits for a batch job who is in a hurry.
void Core::promote(Job& job) {
  job.priority = Priority::interactive;
  switch (job.phase) {
    case Phase::preparing:
      preparing.promote(job.id);
      return;
    case Phase::queued:
      waiting.promote(job.id);
      engine_wake.notify_all();
      return;
    case Phase::running:
      // The scheduler knows it as batch work. It begins again as interactive work; what was sent is not sent twice.
      job.restart = true;
      job.model->scheduler->cancel(job.sequence);
      engine_wake.notify_all();
      return;
    case Phase::waiting_for_model:
    case Phase::storing:
      return;
  }
}

void Core::wait_for_load(Job& job, const std::string& key, const model_store::StoredModel& stored,
                         const FileStamp& stamp) {
  ModelRegistry::Entry* entry = models.find(key, stamp, Clock::now());
  if (entry != nullptr && entry->state != ModelRegistry::Entry::State::loading) return prepare_again(job.id);
  if (entry == nullptr) {
    entry = &models.begin_load(key, stored, stamp);
    loads.push_back(key);
    loader_wake.notify_all();
  }
  job.phase = Phase::waiting_for_model;
  job.model_key = key;
  accept(job, entry->waiting.size());
  entry->waiting.push_back(job.id);
}

void Core::prepare_again(JobId id) {
  Job* job = find(id);
  if (job == nullptr) return;
  job->phase = Phase::preparing;
  preparing.push({job->id, job->client, job->priority, job->clerk});
  clerk_wake.notify_all();
}

void Core::hold_model(Job& job, const ModelPtr& model) {
  if (job.model == model) return;
  release_model(job);
  models.begin_use(model);
  active.emplace(model->lane, model);
  job.model = model;
}

void Core::release_model(Job& job) {
  if (job.model == nullptr) return;
  if (models.end_use(job.model, Clock::now())) {
    active.erase(job.model->lane);
    wake_io();  // its keep-alive begins
  }
  job.model.reset();
}

void Core::enqueue(Job& job, generation::GenerationRequest generation) {
  generation.priority =
      job.priority == Priority::interactive ? generation::Priority::interactive : generation::Priority::batch;
  job.usage.prompt_tokens = static_cast<std::uint32_t>(generation.prompt.size());
  job.generation = std::make_shared<const generation::GenerationRequest>(std::move(generation));
  waiting.push({job.id, job.client, job.priority, job.model->lane});
  job.phase = Phase::queued;
  engine_wake.notify_all();
}

void Core::erase(Job& job) {
  unpublish(job);
  release_model(job);
  jobs.erase(job.id);
  if (jobs.empty()) idle.notify_all();
}

void Core::discard(std::vector<ModelPtr> unloaded) {
  if (unloaded.empty()) return;
  counters.unloads += unloaded.size();
  std::move(unloaded.begin(), unloaded.end(), std::back_inserter(discarded));
  loader_wake.notify_all();
}

}  // namespace glmhost::daemon
