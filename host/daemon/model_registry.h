// Which models are in memory, on their way there, or were tried in vain.
//
// A model is known by the path of its file; several may be in memory at once. One stays `keep_alive` after its last
// request, or goes earlier when another one needs its memory. A file that was replaced on disk is another model: the
// old one answers what it has begun and goes.
//
// Thread rules: none of its own; the daemon keeps it under its lock. Models that are given out by take_...() should be
// dropped outside of it: freeing gigabytes takes a while.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/daemon/loaded_model.h"
#include "host/daemon/queue.h"
#include "host/protocol/messages.h"

namespace glmhost::daemon {

using ModelPtr = std::shared_ptr<LoadedModel>;
using Clock = std::chrono::steady_clock;

// How long a failure to load is told again without trying again, unless the file changes.
inline constexpr std::chrono::seconds kFailureMemory{10};

class ModelRegistry {
 public:
  explicit ModelRegistry(std::chrono::seconds keep_alive) : keep_alive_(keep_alive) {}  // negative: for ever

  struct Entry {
    enum class State { loading, loaded, failed };
    State state = State::loading;
    model_store::StoredModel stored;
    FileStamp stamp;
    std::shared_ptr<LoadProgress> progress;  // while loading
    std::vector<JobId> waiting;              // while loading
    ModelPtr model;                          // when loaded
    protocol::ErrorMessage failure;          // when failed
    Clock::time_point failed_at{};
  };

  static std::string key_of(const std::filesystem::path& path);

  // The entry for a file that has this stamp now; null when it has to be loaded. An older file's model is put aside.
  Entry* find(const std::string& key, const FileStamp& stamp, Clock::time_point now);
  const std::map<std::string, Entry>& entries() const { return entries_; }

  Entry& begin_load(const std::string& key, const model_store::StoredModel& stored, const FileStamp& stamp);
  // Both return the jobs that waited.
  std::vector<JobId> finish_load(const std::string& key, ModelPtr model, Clock::time_point now);
  std::vector<JobId> fail_load(const std::string& key, const protocol::ErrorMessage& failure, Clock::time_point now);
  // A load that was cancelled leaves nothing behind.
  std::vector<JobId> drop_load(const std::string& key);
  void forget_failure(const std::string& key);  // the next find() has it loaded again
  // A job waits no longer. The load is cancelled when nobody waits for it.
  void stop_waiting(const std::string& key, JobId job);

  void begin_use(const ModelPtr& model);
  // The last job of a model has ended when it returns true.
  bool end_use(const ModelPtr& model, Clock::time_point now);
  // Jobs use it no more, whatever its keep-alive; new requests load it again.
  void put_aside(const ModelPtr& model);

  std::vector<IdleModel> idle_by_age() const;  // the least recently used first
  std::vector<ModelPtr> take_idle(std::size_t count);
  std::vector<ModelPtr> take_expired(Clock::time_point now);  // those put aside too
  ModelPtr take(const std::string& key);                      // null when it is not loaded or in use
  std::optional<Clock::time_point> next_expiry() const;

  struct Memory {
    std::uint64_t loaded = 0;
    std::uint64_t untouched = 0;
  };
  Memory memory() const;
  std::chrono::seconds keep_alive() const { return keep_alive_; }

 private:
  std::vector<std::map<std::string, Entry>::const_iterator> idle_entries() const;

  std::chrono::seconds keep_alive_;
  std::map<std::string, Entry> entries_;
  std::vector<ModelPtr> put_aside_;  // until their last job has ended
};

}  // namespace glmhost::daemon
