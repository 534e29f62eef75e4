#include "host/daemon/loader.h"

#include <new>

#include "host/daemon/memory_plan.h"
#include "host/platform/process.h"
#include "host/settings/value_text.h"

namespace glmhost::daemon {
namespace {

using protocol::ErrorCode;
using protocol::ErrorMessage;

// Not a failure of the model: it would fit if others were not in use.
class TooBusyToLoad : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Load {
 public:
  Load(Core& core, kernels::ThreadPool& engine_threads, std::string key)
      : core_(core), engine_threads_(engine_threads), key_(std::move(key)) {}

  // Called without the lock.
  void run() {
    LoadTask task;
    {
      const std::lock_guard lock(core_.mutex);
      const ModelRegistry::Entry& entry = core_.models.entries().at(key_);
      task.stored = entry.stored;
      progress_ = entry.progress;
    }
    task.threads = engine_threads_.size();
    task.kv_bytes = core_.settings.kv_bytes;
    task.max_sequences = core_.settings.max_sequences;
    task.memo = core_.memo;
    task.reserve = [this](const std::string& model, const MemoryNeed& need) { return reserve(model, need); };
    const Clock::time_point start = Clock::now();
    try {
      if (progress_->cancel) throw Error(ErrorKind::cancelled, "Loading the model was cancelled.");
      ModelPtr model = load_model(task, engine_threads_, *progress_);
      publish(std::move(model), std::chrono::duration<double>(Clock::now() - start).count());
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::cancelled) return drop();
      fail(task.stored.name, to_message(error));
    } catch (const TooBusyToLoad& error) {
      fail_for_now(task.stored.name, {ErrorCode::busy, error.what()});
    } catch (const std::bad_alloc&) {
      fail(task.stored.name,
           {ErrorCode::model_load_failed, "The system gave no memory for the model " + task.stored.name +
                                              "; close other programs or take a smaller model."});
    } catch (const std::exception& error) {
      fail(task.stored.name,
           {ErrorCode::model_load_failed, "The model " + task.stored.name + " could not be loaded: " + error.what()});
    }
  }

 private:
  std::uint64_t reserve(const std::string& name, const MemoryNeed& need) {
    const std::uint64_t total = platform::total_memory();
    std::vector<ModelPtr> unloaded;
    {
      const std::lock_guard lock(core_.mutex);
      const ModelRegistry::Memory loaded = core_.models.memory();
      const MemoryNow now{.available = platform::available_memory(),
                          .untouched = loaded.untouched,
                          .limit = core_.settings.memory_limit,
                          .loaded = loaded.loaded};
      const MemoryPlan plan = plan_memory(name, need, now, core_.models.idle_by_age(), total);
      if (!plan.fits && plan.fits_when_idle) throw TooBusyToLoad(plan.sentence);
      if (!plan.fits) throw Error(ErrorKind::out_of_memory, plan.sentence);
      unloaded = core_.models.take_idle(plan.unload);
      core_.counters.unloads += unloaded.size();
      for (const ModelPtr& model : unloaded) {
        core_.log.info("unloaded " + model->stored.name + ": its memory is needed for " + name);
      }
      cache_bytes_ = plan.cache;
    }
    return cache_bytes_;  // `unloaded` is freed here, outside of the lock and before the new model takes its place
  }

  void publish(ModelPtr model, double seconds) {
    const std::lock_guard lock(core_.mutex);
    model->lane = kFirstModelLane + core_.counters.loads++;
    core_.log.info("loaded " + model->stored.name + " (" + model->architecture + ", " +
                   settings::rounded_bytes_text(model->memory_bytes) + ", context " +
                   std::to_string(model->context_tokens) + " tokens) in " + std::to_string(seconds) + " s");
    if (!model->note.empty()) core_.log.warning(model->stored.name + ": " + model->note);
    for (const JobId id : core_.models.finish_load(key_, model, Clock::now())) {
      if (Job* job = core_.find(id)) {
        if (job->purpose == Purpose::generate) core_.hold_model(*job, model);  // a keep-alive of 0 would take it away
        core_.prepare_again(id);
      }
    }
    core_.wake_io();
  }

  void fail(const std::string& name, const ErrorMessage& error) {
    core_.log.error("loading " + name + " failed: " + error.sentence);
    const std::lock_guard lock(core_.mutex);
    for (const JobId id : core_.models.fail_load(key_, error, Clock::now())) {
      if (Job* job = core_.find(id)) core_.fail(*job, error);
    }
  }

  // Not remembered: it may go well as soon as the others have answered.
  void fail_for_now(const std::string& name, const ErrorMessage& error) {
    core_.log.warning("loading " + name + " has to wait: " + error.sentence);
    const std::lock_guard lock(core_.mutex);
    for (const JobId id : core_.models.drop_load(key_)) {
      if (Job* job = core_.find(id)) core_.fail(*job, error);
    }
  }

  // Whoever came after the cancel begins a new load.
  void drop() {
    const std::lock_guard lock(core_.mutex);
    for (const JobId job : core_.models.drop_load(key_)) core_.prepare_again(job);
  }

  Core& core_;
  kernels::ThreadPool& engine_threads_;
  const std::string key_;
  std::shared_ptr<LoadProgress> progress_;
  std::uint64_t cache_bytes_ = 0;
};

}  // namespace

void run_loader(Core& core, kernels::ThreadPool& engine_threads) {
  std::unique_lock lock(core.mutex);
  while (!core.ended) {
    if (!core.discarded.empty()) {
      std::vector<ModelPtr> unloaded = std::exchange(core.discarded, {});
      lock.unlock();
      unloaded.clear();
      lock.lock();
    } else if (!core.loads.empty()) {
      Load load(core, engine_threads, core.loads.front());
      core.loads.pop_front();
      lock.unlock();
      load.run();
      lock.lock();
    } else {
      core.loader_wake.wait(lock);
    }
  }
}

}  // namespace glmhost::daemon
