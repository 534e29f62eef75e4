// The models folder of this user, and model files opened without the daemon.
#pragma once

#include <memory>
#include <string>

#include "host/cli/interrupt.h"
#include "host/model_store/model_store.h"
#include "inference/architectures/model.h"
#include "inference/model_files/gguf_file.h"

namespace glmhost::cli {

model_store::ModelStore open_store();

// A name or a path after -m; empty: the default model of the settings.
// What the daemon, which runs in another folder, is to be told of a model that a person named: names as they are, paths
// from the root.
std::string model_for_daemon(const std::string& name_or_path);

model_files::GgufFile open_model_file(const std::string& name_or_path);

// With a progress bar; Ctrl-C ends it with Error(cancelled).
std::unique_ptr<architectures::Model> load_model(const model_files::GgufFile& file, bool exact,
                                                 kernels::ThreadPool& pool, const Interrupt& interrupt);

// -t, else the settings' threads, else one for each core.
int thread_count(int flag);

}  // namespace glmhost::cli
