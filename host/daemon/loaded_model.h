// A model in memory: weights, tokenizer, chat template, scheduler.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "host/daemon/memo_store.h"
#include "host/daemon/memory_plan.h"
#include "host/daemon/model_file.h"
#include "host/daemon/queue.h"
#include "host/model_store/model_store.h"
#include "inference/chat/infill.h"
#include "inference/chat/model_template.h"
#include "inference/constraints/constraint_cache.h"
#include "inference/generation/scheduler.h"
#include "inference/model_files/gguf_file.h"

namespace glmhost::daemon {

struct LoadedModel {
  explicit LoadedModel(const model_files::GgufFile& file) : tokenizer(file), constraints(tokenizer) {}

  // Fixed once loaded.
  LaneId lane = 0;  // where its requests wait; never used for another model
  model_store::StoredModel stored;
  FileStamp stamp;
  ModelIdentity identity;
  chat::ModelTemplate chat_template;
  chat::InfillTemplate infill;
  std::string architecture;
  std::string note;  // a defect noticed at load
  std::int64_t context_tokens = 0;
  std::uint64_t cache_bytes = 0;
  std::uint64_t memory_bytes = 0;  // weights, workspace and cache
  tokenizer::Tokenizer tokenizer;
  std::unique_ptr<const architectures::Model> model;
  constraints::ConstraintCache constraints;  // has a lock of its own

  // The engine's thread; cancel() from any.
  std::unique_ptr<generation::Scheduler> scheduler;

  // Under the daemon's lock.
  std::string template_failure;         // why its chat template was not used for some request
  std::size_t users = 0;                // jobs that hold it
  std::size_t running = 0;              // of these, in the scheduler
  std::size_t running_interactive = 0;  // of these, interactive
  std::chrono::steady_clock::time_point last_used{};
  std::uint64_t cache_touched = 0;  // the most that was ever in use: memory the system has really given
};

// How far a load has come, read by other threads.
struct LoadProgress {
  std::atomic<double> fraction{0};
  std::atomic<bool> cancel{false};
};

struct LoadTask {
  model_store::StoredModel stored;
  std::int32_t threads = 1;
  std::uint64_t kv_bytes = 0;  // 0: by the model's context
  std::int32_t max_sequences = 32;
  MemoStore* memo = nullptr;  // where the file's content hash is remembered; without one the stamp stands for it
  // Makes room and returns the bytes that the cache may have. Throws Error(out_of_memory).
  std::function<std::uint64_t(const std::string& model, const MemoryNeed& need)> reserve;
};

// Loads with threads of its own, so that the engine's go on answering. Throws Error.
std::shared_ptr<LoadedModel> load_model(const LoadTask& task, kernels::ThreadPool& engine_threads,
                                        LoadProgress& progress);

// What stands for the content of a file that is not hashed.
ModelIdentity identity_by_stamp(const std::filesystem::path& model, const FileStamp& stamp,
                                const std::string& chat_template);

}  // namespace glmhost::daemon
