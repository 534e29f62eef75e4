#include "host/daemon/status.h"

#include <algorithm>

#include "host/platform/paths.h"
#include "host/platform/process.h"
#include "inference/kernels/instruction_set.h"

namespace glmhost::daemon {
namespace {

using Entry = ModelRegistry::Entry;

std::int64_t seconds_left(const LoadedModel& model, std::chrono::seconds keep_alive) {
  if (keep_alive.count() < 0 || model.users > 0) return -1;
  const auto left = std::chrono::ceil<std::chrono::seconds>(model.last_used + keep_alive - Clock::now());
  return std::max<std::int64_t>(0, left.count());
}

std::string note_of(const LoadedModel& model) {
  if (model.template_failure.empty()) return model.note;
  return (model.note.empty() ? "" : model.note + " ") +
         "A request was rendered by the built-in chat template, since the model file's own did not take it: " +
         model.template_failure;
}

protocol::ModelStatus status_of(const Entry& entry, std::chrono::seconds keep_alive) {
  protocol::ModelStatus status;
  status.name = entry.stored.name;
  status.path = platform::to_utf8(entry.stored.path);
  status.file_bytes = entry.stored.bytes;
  switch (entry.state) {
    case Entry::State::loading:
      status.state = "loading";
      status.load_fraction = std::clamp(entry.progress->fraction.load(), 0.0, 1.0);
      break;
    case Entry::State::failed:
      status.state = "failed";
      status.note = entry.failure.sentence;
      break;
    case Entry::State::loaded:
      status.state = "loaded";
      status.load_fraction = 1;
      status.architecture = entry.model->architecture;
      status.chat_template = entry.model->chat_template.description();
      status.memory_bytes = entry.model->memory_bytes;
      status.context_tokens = static_cast<std::uint64_t>(entry.model->context_tokens);
      status.unload_in_s = seconds_left(*entry.model, keep_alive);
      status.note = note_of(*entry.model);
      break;
  }
  return status;
}

}  // namespace

protocol::Status make_status(Core& core, const std::string& endpoint, Clock::time_point started,
                             std::uint32_t threads) {
  protocol::Status status;
  status.pid = platform::process_id();
  status.version = GLMHOST_VERSION;
  status.endpoint = endpoint;
  status.uptime_s = std::chrono::duration<double>(Clock::now() - started).count();
  status.memory_bytes = platform::resident_memory();
  status.kernels = kernels::name(kernels::selected_instruction_set());
  status.threads = threads;
  std::vector<std::pair<std::string, model_store::StoredModel>> stored;
  try {
    for (model_store::StoredModel& model : core.store.list()) {
      std::string key = ModelRegistry::key_of(model.path);
      stored.emplace_back(std::move(key), std::move(model));
    }
  } catch (const std::runtime_error& error) {
    status.problem = error.what();  // the daemon itself is well, and so are models given by their paths
  }

  const std::lock_guard lock(core.mutex);
  for (const auto& [key, entry] : core.models.entries()) {
    status.models.push_back(status_of(entry, core.models.keep_alive()));
  }
  for (const auto& [key, model] : stored) {
    if (core.models.entries().contains(key)) continue;
    protocol::ModelStatus available;
    available.name = model.name;
    available.path = platform::to_utf8(model.path);
    available.state = "available";
    available.file_bytes = model.bytes;
    status.models.push_back(std::move(available));
  }
  std::sort(status.models.begin(), status.models.end(), [](const auto& a, const auto& b) { return a.name < b.name; });

  for (const auto& [key, subscriber] : core.subscribers) {
    const Phase phase = core.find(subscriber.job)->phase;
    const bool running = phase == Phase::running || phase == Phase::storing;
    ++(running ? status.queue.running : status.queue.waiting);
  }
  status.queue.answered = core.counters.answered;
  status.queue.from_memo = core.counters.from_memo;
  status.queue.coalesced = core.counters.coalesced;
  status.queue.refused = core.counters.refused;
  status.queue.cancelled = core.counters.cancelled;
  status.queue.failed = core.counters.failed;
  return status;
}

}  // namespace glmhost::daemon
