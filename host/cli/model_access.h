// The models folder of this user, and model files opened without the daemon.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "host/cli/interrupt.h"
#include "host/model_store/model_store.h"
#include "host/platform/paths.h"
#include "inference/architectures/model.h"
#include "inference/generation/finite.h"
#include "inference/model_files/gguf_file.h"

namespace glmhost::cli {

model_store::ModelStore open_store();

// What the daemon, which runs in another folder, is to be told of a model that a person named: names as they are, paths
// from the root.
std::string model_for_daemon(const std::string& name_or_path);

// A name or a path after -m; empty: the default model of the settings.
model_files::GgufFile open_model_file(const std::string& name_or_path);

// With a progress bar; Ctrl-C ends it with Error(cancelled).
std::unique_ptr<architectures::Model> load_model(const model_files::GgufFile& file, bool exact,
                                                 kernels::ThreadPool& pool, const Interrupt& interrupt);

// layers, embedding_length, context_length and vocabulary, from the header alone. Of a file that Model::estimate takes.
architectures::Hyperparameters shape_of(const model_files::GgufFile& file);

// The bytes that a flag names ("8 GiB"); 0 for an empty text. Throws Failure(usage).
std::uint64_t byte_count(const std::string& flag, const std::string& text);

// Why this version cannot run the model, from the header alone; nothing when it can.
std::optional<std::string> why_unusable(const model_files::GgufFile& file);

// What a verb without the daemon is about to take.
struct Memory {
  std::uint64_t weights = 0;
  std::uint64_t cache = 0;
  std::uint64_t workspace = 0;  // scratch and results
};

// Throws Error(out_of_memory) with the numbers when that is more than the machine has free, or than `limit` (0: that of
// the settings). `advice`: a sentence on how to need less.
void require_memory(const model_files::GgufFile& file, const Memory& need, std::uint64_t limit,
                    const std::string& advice);

// Runs `body`, whose logits are those of `file`; when they are no finite numbers, says which weights are to blame.
template <class Body>
auto with_finite_weights(const model_files::GgufFile& file, const Body& body) {
  try {
    return body();
  } catch (const generation::NotFinite& error) {
    throw Error(error.kind(), platform::to_utf8(file.path()) + ": " +
                                  generation::explain_not_finite(generation::tensor_not_finite(file)));
  }
}

// -t, else the settings' threads, else one for each core.
int thread_count(int flag);

}  // namespace glmhost::cli
