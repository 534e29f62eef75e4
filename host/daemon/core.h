// The daemon's shared state and the one lock over it: who asked for what, and where each request stands.
//
//   Subscriber   one request of one client, from arrival to its last message
//   Job          one computation; equal requests are subscribers of the same job
//
//   preparing -> waiting_for_model -> preparing -> queued -> running -> storing -> gone
//     clerk        loader               clerk        engine    engine    memo writer
//
// Threads: the I/O thread brings messages in and takes the outbox out; clerks turn requests into tokens; the loader
// brings models into memory; the engine computes; the memo writer keeps answers. None of them does anything slow under
// the lock. A result leaves only after the memo writer has it on disk.
//
// Every member is to be touched with `mutex` held, except where it says otherwise.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/daemon/answer.h"
#include "host/daemon/log.h"
#include "host/daemon/memo_store.h"
#include "host/daemon/model_registry.h"
#include "host/daemon/queue.h"
#include "host/protocol/messages.h"
#include "host/settings/settings.h"
#include "inference/error.h"

namespace glmhost::daemon {

using SubscriberKey = std::pair<PeerId, std::uint64_t>;  // the client and its request id

struct Subscriber {
  JobId job = 0;
  Priority priority = Priority::interactive;
  std::uint64_t bytes = 0;  // that count for admission
  std::uint32_t deadline_ms = 0;
  std::uint32_t credits = 0;
  bool streams = false;   // it brought credits
  bool accepted = false;  // it was told
  Clock::time_point arrival{};
  Clock::time_point deadline = Clock::time_point::max();
  Cursor cursor;
};

enum class Phase { preparing, waiting_for_model, queued, running, storing };

enum class Purpose { generate, load_model, unload_model };

struct Job {
  JobId id = 0;
  Purpose purpose = Purpose::generate;
  Phase phase = Phase::preparing;
  std::vector<SubscriberKey> subscribers;
  PeerId client = 0;  // whose turn it uses
  Priority priority = Priority::interactive;
  LaneId clerk = 0;
  std::shared_ptr<const protocol::Request> request;  // immutable, so that a clerk may read it without the lock

  std::string model_name;
  std::string model_key;           // in the registry, while waiting for the model
  std::optional<Hash128> key;      // set once the job can be found by equal requests
  std::optional<Hash128> content;  // of the model file that the key was made with
  ModelPtr model;                  // held as soon as a clerk has found it in memory
  std::shared_ptr<const generation::GenerationRequest> generation;
  generation::SequenceId sequence = 0;
  bool restart = false;    // cancelled in the scheduler to run again at a higher priority
  bool abandoned = false;  // cancelled in the scheduler, and nobody waits for it

  Answer answer;
  std::string finish_reason;
  protocol::Usage usage;
  Clock::time_point arrival{}, started{}, first_token{};
};

struct Outgoing {
  PeerId peer = 0;
  protocol::Envelope<protocol::DaemonMessage> envelope;
};

// The clerks' lanes: a very long prompt takes seconds to turn into tokens, and nobody else should wait for that.
inline constexpr LaneId kShortPrompts = 1;
inline constexpr LaneId kLongPrompts = 2;
inline constexpr LaneId kFirstModelLane = 1;  // of Core::waiting, which has lanes of its own
inline constexpr std::uint64_t kLongPromptBytes = 256u << 10;

protocol::ErrorMessage to_message(const Error& error);  // with the protocol's code for its kind

// The memory that a request's text takes, about.
std::uint64_t request_bytes(const protocol::Request& request);

struct Core {
  Core(const settings::Settings& the_settings, Log& the_log, MemoStore* the_memo, model_store::ModelStore the_store);

  // Fixed, or with locks of their own.
  const settings::Settings settings;
  Log& log;
  MemoStore* const memo;  // null when switched off
  const model_store::ModelStore store;
  std::function<void()> wake_io;  // set before the threads start

  std::mutex mutex;
  std::condition_variable clerk_wake, loader_wake, engine_wake, memo_wake, idle;
  bool stopping = false;  // nothing new is taken
  bool ended = false;     // the threads go

  Queue preparing;  // in the clerks' lanes
  Queue waiting;    // in the models' lanes
  Admission admission;
  ModelRegistry models;
  std::deque<std::string> loads;  // registry keys, for the loader
  std::unordered_map<JobId, std::unique_ptr<Job>> jobs;
  std::map<SubscriberKey, Subscriber> subscribers;
  std::set<std::pair<Clock::time_point, SubscriberKey>> deadlines;
  std::map<Hash128, JobId> by_key;
  std::map<LaneId, ModelPtr> active;  // models that jobs hold
  std::deque<std::pair<JobId, std::pair<Hash128, MemoAnswer>>> to_store;
  std::vector<Outgoing> outbox;
  std::vector<ModelPtr> discarded;  // for the loader to free
  Clock::time_point last_activity = Clock::now();
  JobId last_job = 0;

  struct Counters {
    std::uint64_t answered = 0, from_memo = 0, coalesced = 0, refused = 0, cancelled = 0, failed = 0;
    std::uint64_t prompt_tokens = 0, generated_tokens = 0, steps = 0;  // of the engine
    std::uint64_t loads = 0, unloads = 0;
  };
  Counters counters;

  // --- what clients ask for (the I/O thread)
  void open(PeerId peer, std::uint64_t id, protocol::Request request);
  void open_control(PeerId peer, std::uint64_t id, Purpose purpose, const std::string& model);
  void add_credits(SubscriberKey subscriber, std::uint32_t deltas);
  void cancel(SubscriberKey subscriber);  // unknown ones are ignored
  void forget_peer(PeerId peer);          // it is gone: all it asked for is cancelled
  void expire(Clock::time_point now);     // deadlines and models
  void stop_taking();                     // refuses new requests, ends all that has not begun
  void cancel_running();                  // ends the rest
  std::optional<Clock::time_point> next_timer() const;

  // --- how jobs go on (all threads)
  Job* find(JobId job);
  void send(PeerId peer, std::uint64_t id, protocol::DaemonMessage message);
  void accept(Job& job, std::size_t position);               // tells every subscriber that was not told yet
  void deliver(Job& job);                                    // text, as far as credits go
  void finish(Job& job, bool from_memo = false);             // the result to every subscriber; the job is gone
  void fail(Job& job, const protocol::ErrorMessage& error);  // likewise
  // The job can be found by equal requests from now on. Where one is there already, its subscribers move over, the job
  // is gone, and the other one is returned.
  Job* publish(Job& job, const Hash128& key);
  void unpublish(Job& job);
  void wait_for_load(Job& job, const std::string& key, const model_store::StoredModel& stored, const FileStamp& stamp);
  void prepare_again(JobId job);                                     // its model is there, or is not any more
  void hold_model(Job& job, const ModelPtr& model);                  // it is not unloaded while the job needs it
  void enqueue(Job& job, generation::GenerationRequest generation);  // with the model that it holds
  void discard(std::vector<ModelPtr> unloaded);
  bool nothing_open() const { return jobs.empty() && subscribers.empty(); }

 private:
  void add_subscriber(SubscriberKey key, Subscriber subscriber, Job& job);
  Job& new_job(Purpose purpose, SubscriberKey subscriber, Priority priority, protocol::Request request, LaneId clerk);
  void remove_subscriber(SubscriberKey key);
  void leave(SubscriberKey key, const std::optional<protocol::ErrorMessage>& error);
  void abandon(Job& job);
  void promote(Job& job);
  void release_model(Job& job);
  void erase(Job& job);
  protocol::ErrorMessage refusal(Admission::Verdict verdict) const;
};

}  // namespace glmhost::daemon
