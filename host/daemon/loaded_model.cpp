#include "host/daemon/loaded_model.h"

#include <xxhash.h>

#include <algorithm>

#include "host/platform/paths.h"
#include "inference/architectures/model.h"
#include "inference/error.h"

namespace glmhost::daemon {
namespace {

constexpr std::uint64_t kMostAutomaticCache = std::uint64_t{1} << 30;
constexpr std::int64_t kTokensOfOneRequest = 1024;  // a prompt and an answer of usual size
constexpr std::int64_t kFewestCacheTokens = 2048;   // less is of no use for a conversation
constexpr std::int32_t kPromptPiece = 256;
constexpr double kHashShare = 0.4;  // of the progress: the file is read twice the first time

MemoryNeed memory_need(const model_files::GgufFile& file, const LoadTask& task) {
  const architectures::MemoryEstimate estimate =
      architectures::Model::estimate(file, false, task.max_sequences + kPromptPiece);
  MemoryNeed need{.weights = estimate.weights, .workspace = estimate.workspace, .cache_wanted = 0, .cache_least = 0};
  if (task.kv_bytes > 0) {
    need.cache_wanted = need.cache_least = task.kv_bytes;
    return need;
  }
  const std::uint64_t context = file.get_unsigned(file.architecture() + ".context_length").value_or(0);
  const std::uint64_t together = static_cast<std::uint64_t>(task.max_sequences) * kTokensOfOneRequest;
  const std::uint64_t tokens = std::min<std::uint64_t>(std::max(context, together), kMostAutomaticCache);
  const std::uint64_t least = std::min<std::uint64_t>(std::max<std::uint64_t>(context, 1), kFewestCacheTokens);
  need.cache_least = least * estimate.kv_per_token;
  need.cache_wanted = std::max(need.cache_least, std::min(tokens * estimate.kv_per_token, kMostAutomaticCache));
  return need;
}

ModelIdentity identify(const LoadTask& task, const FileStamp& stamp, const std::string& chat_template,
                       LoadProgress& progress) {
  if (task.memo == nullptr) return identity_by_stamp(task.stored.path, stamp, chat_template);
  std::optional<ModelIdentity> known = task.memo->find_identity(task.stored.path, stamp);
  if (known && known->chat_template == chat_template) return *known;
  const auto told = [&](double fraction) { progress.fraction = fraction * kHashShare; };
  const ModelIdentity identity{known ? known->content : hash_content(task.stored.path, told, &progress.cancel),
                               chat_template};
  task.memo->store_identity(task.stored.path, stamp, identity);
  return identity;
}

std::string defects(const tokenizer::Tokenizer& tokenizer) {
  const std::int32_t unreachable = tokenizer.unreachable_tokens();
  if (unreachable == 0) return {};
  return "The file's vocabulary has " + std::to_string(unreachable) +
         " tokens that no text leads to: a defect of the program that converted it.";
}

}  // namespace

ModelIdentity identity_by_stamp(const std::filesystem::path& model, const FileStamp& stamp,
                                const std::string& chat_template) {
  const std::string text =
      platform::to_utf8(model) + '\n' + std::to_string(stamp.bytes) + '\n' + std::to_string(stamp.modified);
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return {{hash.high64, hash.low64}, chat_template};
}

std::shared_ptr<LoadedModel> load_model(const LoadTask& task, kernels::ThreadPool& engine_threads,
                                        LoadProgress& progress) {
  const FileStamp stamp = stamp_of(task.stored.path);
  const model_files::GgufFile file = model_files::GgufFile::open(task.stored.path);
  auto loaded = std::make_shared<LoadedModel>(file);
  loaded->stored = task.stored;
  loaded->stamp = stamp;
  loaded->architecture = file.architecture();
  loaded->chat_template = chat::ModelTemplate::of(file, loaded->tokenizer);
  loaded->infill = chat::InfillTemplate::of(file, loaded->tokenizer);
  const MemoryNeed need = memory_need(file, task);
  // Before the hash: what cannot fit is refused without reading gigabytes.
  loaded->cache_bytes = task.reserve(task.stored.name, need);
  loaded->identity = identify(task, stamp, loaded->chat_template.to_text(), progress);
  {
    const double start = progress.fraction;
    architectures::LoadOptions options;
    options.progress = [&](double fraction) { progress.fraction = start + (1 - start) * fraction; };
    options.cancel = &progress.cancel;
    kernels::ThreadPool threads(task.threads);
    loaded->model = architectures::Model::load(file, options, threads);
  }
  generation::SchedulerOptions options;
  options.kv_bytes = loaded->cache_bytes;
  options.max_sequences = task.max_sequences;
  options.prompt_piece = kPromptPiece;
  loaded->scheduler =
      std::make_unique<generation::Scheduler>(*loaded->model, loaded->tokenizer, engine_threads, options);
  loaded->context_tokens = loaded->scheduler->context_tokens();
  loaded->cache_bytes = loaded->scheduler->kv_bytes_total();
  loaded->memory_bytes = loaded->model->weight_bytes() + need.workspace + loaded->cache_bytes;
  loaded->note = defects(loaded->tokenizer);
  if (stamp_of(task.stored.path) != stamp) {
    throw Error(ErrorKind::io, "The model file " + platform::to_utf8(task.stored.path) +
                                   " was changed while it was being loaded; try again when it is complete.");
  }
  return loaded;
}

}  // namespace glmhost::daemon
