#include "host/daemon/model_registry.h"

#include <algorithm>
#include <utility>

#include "host/platform/paths.h"

namespace glmhost::daemon {
namespace {

IdleModel as_idle(const LoadedModel& model) {
  return {model.memory_bytes, model.cache_bytes - std::min(model.cache_bytes, model.cache_touched)};
}

}  // namespace

std::string ModelRegistry::key_of(const std::filesystem::path& path) {
  std::error_code failure;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(path, failure);
  return platform::to_utf8(failure ? path : whole);
}

ModelRegistry::Entry* ModelRegistry::find(const std::string& key, const FileStamp& stamp, Clock::time_point now) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  Entry& entry = found->second;
  const bool same_file = entry.stamp == stamp;
  switch (entry.state) {
    case Entry::State::loading:
      return &entry;  // the loader itself finds out that the file changed under it
    case Entry::State::loaded:
      if (same_file) return &entry;
      put_aside(ModelPtr(entry.model));
      return nullptr;
    case Entry::State::failed:
      if (same_file && now < entry.failed_at + kFailureMemory) return &entry;
      entries_.erase(found);
      return nullptr;
  }
  return nullptr;
}

ModelRegistry::Entry& ModelRegistry::begin_load(const std::string& key, const model_store::StoredModel& stored,
                                                const FileStamp& stamp) {
  Entry& entry = entries_[key];
  entry = Entry{};
  entry.stored = stored;
  entry.stamp = stamp;
  entry.progress = std::make_shared<LoadProgress>();
  return entry;
}

std::vector<JobId> ModelRegistry::finish_load(const std::string& key, ModelPtr model, Clock::time_point now) {
  Entry& entry = entries_.at(key);
  model->last_used = now;
  entry.state = Entry::State::loaded;
  entry.stamp = model->stamp;
  entry.model = std::move(model);
  entry.progress.reset();
  return std::exchange(entry.waiting, {});
}

std::vector<JobId> ModelRegistry::fail_load(const std::string& key, const protocol::ErrorMessage& failure,
                                            Clock::time_point now) {
  Entry& entry = entries_.at(key);
  entry.state = Entry::State::failed;
  entry.failure = failure;
  entry.failed_at = now;
  entry.progress.reset();
  return std::exchange(entry.waiting, {});
}

std::vector<JobId> ModelRegistry::drop_load(const std::string& key) {
  const auto found = entries_.find(key);
  std::vector<JobId> waiting = std::move(found->second.waiting);
  entries_.erase(found);
  return waiting;
}

void ModelRegistry::forget_failure(const std::string& key) {
  const auto found = entries_.find(key);
  if (found != entries_.end() && found->second.state == Entry::State::failed) entries_.erase(found);
}

void ModelRegistry::stop_waiting(const std::string& key, JobId job) {
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second.state != Entry::State::loading) return;
  std::erase(found->second.waiting, job);
  if (found->second.waiting.empty()) found->second.progress->cancel = true;
}

void ModelRegistry::begin_use(const ModelPtr& model) {
  ++model->users;
}

bool ModelRegistry::end_use(const ModelPtr& model, Clock::time_point now) {
  model->last_used = now;
  return --model->users == 0;
}

void ModelRegistry::put_aside(const ModelPtr& model) {
  std::erase_if(entries_, [&](const auto& entry) { return entry.second.model == model; });
  put_aside_.push_back(model);
}

std::vector<std::map<std::string, ModelRegistry::Entry>::const_iterator> ModelRegistry::idle_entries() const {
  std::vector<std::map<std::string, Entry>::const_iterator> idle;
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (entry->second.model != nullptr && entry->second.model->users == 0) idle.push_back(entry);
  }
  std::sort(idle.begin(), idle.end(),
            [](const auto& a, const auto& b) { return a->second.model->last_used < b->second.model->last_used; });
  return idle;
}

std::vector<IdleModel> ModelRegistry::idle_by_age() const {
  std::vector<IdleModel> idle;
  for (const auto& entry : idle_entries()) idle.push_back(as_idle(*entry->second.model));
  return idle;
}

std::vector<ModelPtr> ModelRegistry::take_idle(std::size_t count) {
  std::vector<ModelPtr> taken;
  for (const auto& entry : idle_entries()) {
    if (taken.size() == count) break;
    taken.push_back(entry->second.model);
    entries_.erase(entry);
  }
  return taken;
}

std::vector<ModelPtr> ModelRegistry::take_expired(Clock::time_point now) {
  std::vector<ModelPtr> taken;
  for (ModelPtr& model : put_aside_) {
    if (model->users == 0) taken.push_back(std::move(model));
  }
  std::erase(put_aside_, nullptr);
  if (keep_alive_.count() < 0) return taken;
  for (const auto& entry : idle_entries()) {
    if (now < entry->second.model->last_used + keep_alive_) break;
    taken.push_back(entry->second.model);
    entries_.erase(entry);
  }
  return taken;
}

ModelPtr ModelRegistry::take(const std::string& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second.model == nullptr || found->second.model->users > 0) return nullptr;
  ModelPtr model = found->second.model;
  entries_.erase(found);
  return model;
}

std::optional<Clock::time_point> ModelRegistry::next_expiry() const {
  for (const ModelPtr& model : put_aside_) {
    if (model->users == 0) return Clock::time_point::min();
  }
  if (keep_alive_.count() < 0) return std::nullopt;
  const auto idle = idle_entries();
  if (idle.empty()) return std::nullopt;
  return idle.front()->second.model->last_used + keep_alive_;
}

ModelRegistry::Memory ModelRegistry::memory() const {
  Memory memory;
  const auto add = [&](const LoadedModel& model) {
    memory.loaded += model.memory_bytes;
    memory.untouched += as_idle(model).untouched;
  };
  for (const auto& [key, entry] : entries_) {
    if (entry.model != nullptr) add(*entry.model);
  }
  for (const ModelPtr& model : put_aside_) add(*model);
  return memory;
}

}  // namespace glmhost::daemon
