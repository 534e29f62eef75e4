// What clients ask for: arrival, departure, time.
#include "host/daemon/core.h"

#include <algorithm>
#include <chrono>

#include "host/settings/value_text.h"

namespace glmhost::daemon {
namespace {

using protocol::ErrorCode;
using protocol::ErrorMessage;

// How much a JSON value holds; a node's own cost is a guess that need not be exact.
std::uint64_t json_bytes(const nlohmann::ordered_json& value) {
  constexpr std::uint64_t node = 48;
  if (value.is_string()) return node + value.get_ref<const std::string&>().size();
  std::uint64_t bytes = node;
  if (value.is_object()) {
    for (const auto& [key, child] : value.items()) bytes += key.size() + json_bytes(child);
  } else if (value.is_array()) {
    for (const auto& child : value) bytes += json_bytes(child);
  }
  return bytes;
}

const ErrorMessage kStopping{ErrorCode::backend_failed,
                             "The daemon is being stopped; send the request again when it runs once more."};

}  // namespace

ErrorMessage to_message(const Error& error) {
  const auto code = [&] {
    switch (error.kind()) {
      case ErrorKind::not_found:
        return ErrorCode::no_model;
      case ErrorKind::bad_file:
      case ErrorKind::unsupported:
      case ErrorKind::out_of_memory:
      case ErrorKind::io:
        return ErrorCode::model_load_failed;
      case ErrorKind::context_exceeded:
        return ErrorCode::too_large;
      case ErrorKind::bad_argument:
        return ErrorCode::bad_request;
      case ErrorKind::cancelled:
        return ErrorCode::cancelled;
    }
    return ErrorCode::internal;
  };
  return {code(), error.what()};
}

std::uint64_t request_bytes(const protocol::Request& request) {
  std::uint64_t bytes = 1024 + request.model.size() + json_bytes(request.messages);
  if (request.prompt) bytes += request.prompt->size();
  bytes += json_bytes(request.tools);
  if (request.form) {
    bytes += request.form->text.size();
    for (const std::string& choice : request.form->choices) bytes += sizeof(choice) + choice.size();
  }
  if (request.infill) {
    bytes += request.infill->prefix.size() + request.infill->suffix.size();
    for (const protocol::InfillContext& one : request.infill->context) bytes += one.path.size() + one.text.size();
  }
  for (const std::string& stop : request.stop) bytes += stop.size();
  return bytes;
}

Core::Core(const settings::Settings& the_settings, Log& the_log, MemoStore* the_memo, model_store::ModelStore the_store)
    : settings(the_settings),
      log(the_log),
      memo(the_memo),
      store(std::move(the_store)),
      admission({static_cast<std::size_t>(settings.max_queue), settings.queue_bytes}),
      models(std::chrono::seconds(settings.keep_alive_s)) {}

// --- arrival

ErrorMessage Core::refusal(Admission::Verdict verdict) const {
  const std::string open = std::to_string(admission.open()) + " requests are open";
  const std::string later = "; send it again in a moment.";
  switch (verdict) {
    case Admission::Verdict::bytes:
      return {ErrorCode::busy, "The daemon is busy: the prompts of open requests take " +
                                   settings::rounded_bytes_text(admission.bytes()) + " of at most " +
                                   settings::rounded_bytes_text(settings.queue_bytes) + " (queue_bytes)" + later};
    case Admission::Verdict::full_for_client:
      return {ErrorCode::busy, "The daemon is busy: this client has as many open requests as one client may have (" +
                                   std::to_string(admission.client_limit()) + ")" + later};
    case Admission::Verdict::full_for_batch:
      return {ErrorCode::busy, "The daemon is busy: as much batch work is open as may be (" +
                                   std::to_string(admission.batch_limit()) + " requests)" + later};
    default:
      return {ErrorCode::busy, "The daemon is busy: " + open + ", and at most " + std::to_string(settings.max_queue) +
                                   " may be (max_queue)" + later};
  }
}

Job& Core::new_job(Purpose purpose, SubscriberKey subscriber, Priority priority, protocol::Request request,
                   LaneId clerk) {
  auto job = std::make_unique<Job>();
  job->id = ++last_job;
  job->purpose = purpose;
  job->client = subscriber.first;
  job->priority = priority;
  job->clerk = clerk;
  job->request = std::make_shared<const protocol::Request>(std::move(request));
  job->arrival = last_activity = Clock::now();
  preparing.push({job->id, job->client, priority, clerk});
  clerk_wake.notify_all();
  return *jobs.emplace(job->id, std::move(job)).first->second;
}

void Core::add_subscriber(SubscriberKey key, Subscriber subscriber, Job& job) {
  subscriber.job = job.id;
  if (subscriber.deadline != Clock::time_point::max()) deadlines.emplace(subscriber.deadline, key);
  subscribers.emplace(key, std::move(subscriber));
  job.subscribers.push_back(key);
}

void Core::open(PeerId peer, std::uint64_t id, protocol::Request request) {
  const SubscriberKey key{peer, id};
  if (stopping) return send(peer, id, kStopping);
  if (subscribers.contains(key)) {
    ++counters.refused;
    return send(peer, id, ErrorMessage{ErrorCode::bad_request, "A request with this id is open already."});
  }
  Subscriber subscriber;
  subscriber.priority = request.priority;
  subscriber.bytes = request_bytes(request);
  const Admission::Verdict verdict = admission.admit(peer, request.priority, subscriber.bytes);
  if (verdict != Admission::Verdict::admitted) {
    ++counters.refused;
    return send(peer, id, refusal(verdict));
  }
  subscriber.deadline_ms = request.deadline_ms;
  subscriber.credits = request.credits;
  subscriber.streams = request.credits > 0;
  subscriber.arrival = Clock::now();
  subscriber.deadline = subscriber.arrival + std::chrono::milliseconds(request.deadline_ms);
  const LaneId clerk = subscriber.bytes > kLongPromptBytes ? kLongPrompts : kShortPrompts;
  Job& job = new_job(Purpose::generate, key, subscriber.priority, std::move(request), clerk);
  add_subscriber(key, std::move(subscriber), job);
}

void Core::open_control(PeerId peer, std::uint64_t id, Purpose purpose, const std::string& model) {
  const SubscriberKey key{peer, id};
  if (stopping) return send(peer, id, kStopping);
  if (subscribers.contains(key)) {
    return send(peer, id, ErrorMessage{ErrorCode::bad_request, "A request with this id is open already."});
  }
  Subscriber subscriber;
  subscriber.bytes = model.size();
  const Admission::Verdict verdict = admission.admit(peer, subscriber.priority, subscriber.bytes);
  if (verdict != Admission::Verdict::admitted) return send(peer, id, refusal(verdict));
  subscriber.arrival = Clock::now();
  protocol::Request request;
  request.model = model;
  Job& job = new_job(purpose, key, subscriber.priority, std::move(request), kShortPrompts);
  add_subscriber(key, std::move(subscriber), job);
}

void Core::add_credits(SubscriberKey key, std::uint32_t deltas) {
  const auto found = subscribers.find(key);
  if (found == subscribers.end()) return;
  Subscriber& subscriber = found->second;
  subscriber.credits += std::min(deltas, UINT32_MAX - subscriber.credits);
  subscriber.streams = true;
  deliver(*find(subscriber.job));
}

// --- departure

void Core::remove_subscriber(SubscriberKey key) {
  const auto found = subscribers.find(key);
  const Subscriber& subscriber = found->second;
  admission.release(key.first, subscriber.priority, subscriber.bytes);
  deadlines.erase({subscriber.deadline, key});
  subscribers.erase(found);
  last_activity = Clock::now();
}

void Core::leave(SubscriberKey key, const std::optional<ErrorMessage>& error) {
  const auto found = subscribers.find(key);
  if (found == subscribers.end()) return;
  Job& job = *find(found->second.job);
  if (error) send(key.first, key.second, *error);
  remove_subscriber(key);
  std::erase(job.subscribers, key);
  if (job.subscribers.empty()) return abandon(job);
  if (job.client != key.first) return;
  job.client = job.subscribers.front().first;
  waiting.change_client(job.id, job.client);
}

void Core::cancel(SubscriberKey key) {
  if (!subscribers.contains(key)) return;
  ++counters.cancelled;
  leave(key, ErrorMessage{ErrorCode::cancelled, "The request was cancelled."});
}

void Core::forget_peer(PeerId peer) {
  for (auto next = subscribers.lower_bound({peer, 0}); next != subscribers.end() && next->first.first == peer;
       next = subscribers.lower_bound({peer, 0})) {
    ++counters.cancelled;
    leave(next->first, std::nullopt);
  }
}

// Nobody waits for the job any more.
void Core::abandon(Job& job) {
  switch (job.phase) {
    case Phase::preparing:
      preparing.remove(job.id);  // a clerk that is at it finds the job gone
      return erase(job);
    case Phase::waiting_for_model:
      models.stop_waiting(job.model_key, job.id);
      return erase(job);
    case Phase::queued:
      waiting.remove(job.id);
      return erase(job);
    case Phase::running:
      unpublish(job);  // an equal request must not join what is about to end
      job.abandoned = true;
      job.restart = false;
      job.model->scheduler->cancel(job.sequence);
      engine_wake.notify_all();
      return;
    case Phase::storing:
      return;  // the work is done: let it be kept
  }
}

void Core::expire(Clock::time_point now) {
  while (!deadlines.empty() && deadlines.begin()->first <= now) {
    const SubscriberKey key = deadlines.begin()->second;
    const Subscriber& subscriber = subscribers.at(key);
    const Job& job = *find(subscriber.job);
    std::string sentence = "The deadline of " + std::to_string(subscriber.deadline_ms) + " ms passed while ";
    if (job.phase == Phase::running || job.phase == Phase::storing) {
      sentence += "the answer was being computed (" + std::to_string(job.usage.generated_tokens) + " tokens so far).";
    } else if (job.phase == Phase::waiting_for_model) {
      sentence += "the model " + job.model_name + " was being loaded.";
    } else {
      const auto ahead = waiting.ahead(job.id);
      sentence += "the request was waiting" + (ahead ? " with " + std::to_string(*ahead) + " ahead of it." : ".");
    }
    ++counters.failed;
    leave(key, ErrorMessage{ErrorCode::deadline, sentence + " Allow more time or ask for less."});
  }
  std::vector<ModelPtr> expired = models.take_expired(now);
  for (const ModelPtr& model : expired) log.info("unloaded " + model->stored.name + ": not used for a while");
  discard(std::move(expired));
}

std::optional<Clock::time_point> Core::next_timer() const {
  std::optional<Clock::time_point> next = models.next_expiry();
  if (!deadlines.empty() && (!next || deadlines.begin()->first < *next)) next = deadlines.begin()->first;
  return next;
}

void Core::stop_taking() {
  stopping = true;
  std::vector<JobId> not_begun;
  for (const auto& [id, job] : jobs) {
    if (job->phase != Phase::running && job->phase != Phase::storing) not_begun.push_back(id);
  }
  for (const JobId id : not_begun) {
    Job& job = *find(id);
    while (!job.subscribers.empty()) {
      const SubscriberKey key = job.subscribers.back();
      const bool last = job.subscribers.size() == 1;
      leave(key, kStopping);
      if (last) break;  // the job is gone
    }
  }
}

void Core::cancel_running() {
  std::vector<SubscriberKey> open;
  for (const auto& [key, subscriber] : subscribers) {
    if (find(subscriber.job)->phase != Phase::storing) open.push_back(key);
  }
  for (const SubscriberKey& key : open) leave(key, kStopping);
}

}  // namespace glmhost::daemon
