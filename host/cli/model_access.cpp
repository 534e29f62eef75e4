#include "host/cli/model_access.h"

#include <algorithm>
#include <thread>

#include "host/cli/console.h"
#include "host/cli/exit_code.h"
#include "host/cli/progress_bar.h"
#include "host/daemon/memory_plan.h"
#include "host/platform/paths.h"
#include "host/platform/process.h"
#include "host/settings/settings.h"
#include "host/settings/value_text.h"
#include "inference/tokenizer/tokenizer.h"

namespace glmhost::cli {

model_store::ModelStore open_store() {
  return model_store::ModelStore(settings::load().models_folder);
}

std::string model_for_daemon(const std::string& name_or_path) {
  require_utf8(name_or_path, "The model's name");
  if (!model_store::is_model_path(name_or_path)) return name_or_path;
  std::error_code error;
  const auto path = std::filesystem::absolute(platform::path_from_utf8(name_or_path), error);
  return error ? name_or_path : platform::to_utf8(path.lexically_normal());
}

model_files::GgufFile open_model_file(const std::string& name_or_path) {
  const settings::Settings settings = settings::load();
  const model_store::ModelStore store(settings.models_folder);
  return model_files::GgufFile::open(store.resolve(name_or_path.empty() ? settings.default_model : name_or_path).path);
}

std::unique_ptr<architectures::Model> load_model(const model_files::GgufFile& file, bool exact,
                                                 kernels::ThreadPool& pool, const Interrupt& interrupt) {
  ProgressBar bar;
  architectures::LoadOptions options;
  options.exact = exact;
  options.progress = [&](double done) { bar.fraction("loading the model", done); };
  options.cancel = &interrupt.flag();
  return architectures::Model::load(file, options, pool);
}

architectures::Hyperparameters shape_of(const model_files::GgufFile& file) {
  const std::string prefix = file.architecture() + ".";
  const auto number = [&](const char* key) {
    return static_cast<std::int64_t>(file.get_unsigned(prefix + key).value_or(0));
  };
  architectures::Hyperparameters shape;
  shape.architecture = file.architecture();
  shape.layers = number("block_count");
  shape.embedding_length = number("embedding_length");
  shape.context_length = number("context_length");
  if (const auto* embedding = file.find_tensor("token_embd.weight")) shape.vocabulary = embedding->rows();
  return shape;
}

std::optional<std::string> why_unusable(const model_files::GgufFile& file) {
  try {
    architectures::Model::estimate(file);  // says when the architecture or a type is not supported
    const tokenizer::Tokenizer tokenizer(file);
  } catch (const Error& error) {
    return error.what();
  }
  return std::nullopt;
}

std::uint64_t byte_count(const std::string& flag, const std::string& text) {
  if (text.empty()) return 0;
  const auto bytes = settings::parse_bytes(text);
  if (!bytes) {
    throw Failure(ExitCode::usage, "The value of " + flag + " is wrong: `" + text +
                                       "` is not a number of bytes such as 1073741824 or 8GiB.");
  }
  return *bytes;
}

void require_memory(const model_files::GgufFile& file, const Memory& need, std::uint64_t limit,
                    const std::string& advice) {
  const std::uint64_t total = platform::total_memory();
  const daemon::MemoryNeed all{
      .weights = need.weights, .workspace = need.workspace, .cache_wanted = need.cache, .cache_least = need.cache};
  const daemon::MemoryNow now{.available = platform::available_memory(),
                              .untouched = 0,
                              .limit = limit > 0 ? limit : settings::load().memory_limit,
                              .loaded = 0};
  const auto plan = daemon::plan_memory(platform::to_utf8(file.path().filename()), all, now, {}, total);
  if (!plan.fits) throw Error(ErrorKind::out_of_memory, plan.sentence + " " + advice);
}

int thread_count(int flag) {
  if (flag > 0) return flag;
  const int configured = settings::load().threads;
  return configured > 0 ? configured : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace glmhost::cli
