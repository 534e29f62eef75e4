#include "host/cli/model_access.h"

#include <algorithm>
#include <thread>

#include "host/cli/progress_bar.h"
#include "host/platform/paths.h"
#include "host/settings/settings.h"

namespace glmhost::cli {

model_store::ModelStore open_store() {
  return model_store::ModelStore(settings::load().models_folder);
}

std::string model_for_daemon(const std::string& name_or_path) {
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

int thread_count(int flag) {
  if (flag > 0) return flag;
  const int configured = settings::load().threads;
  return configured > 0 ? configured : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace glmhost::cli
