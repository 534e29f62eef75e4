// A loaded model: weights in the kernels' layout and the forward pass of its architecture.
//
// One file per family (llama.cpp, chatglm.cpp, glm4.cpp, gemma3.cpp) describes the layer from the shared parts in
// layer.h; registry.cpp maps general.architecture to it. Equations: see the comment at the head of each family's file.
//
// Thread rules: a Model is immutable; forward may run in several threads at once, each with its own workspace and pool.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "inference/architectures/operation_times.h"
#include "inference/kernels/attention.h"
#include "inference/kernels/thread_pool.h"
#include "inference/model_files/gguf_file.h"

namespace glmhost::architectures {

// Names as in the GGUF keys. All range-checked; every tensor's shape is checked against them at load.
struct Hyperparameters {
  std::string architecture;
  std::int64_t layers = 0;
  std::int64_t context_length = 0;
  std::int64_t embedding_length = 0;
  std::int64_t feed_forward_length = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t key_length = 0;    // per head
  std::int64_t value_length = 0;  // per head
  std::int64_t rotary_dim = 0;
  double rope_theta = 10000;
  double rope_theta_local = 10000;  // gemma3's windowed layers
  float norm_epsilon = 1e-5f;
  std::int64_t sliding_window = 0;  // 0: none
  std::int64_t vocabulary = 0;      // rows of the embedding matrix, may exceed the tokenizer's
};

struct LoadOptions {
  bool exact = false;  // float32 weights, activations and cache: the reference for tests and `glm validate`
  std::function<void(double fraction)> progress;  // called from the loading thread, 0..1
  const std::atomic<bool>* cancel = nullptr;      // polled; ends the load with Error(cancelled)
};

struct MemoryEstimate {
  std::uint64_t weights = 0;
  std::uint64_t kv_per_token = 0;  // bytes of cache for one token of one sequence
  std::uint64_t workspace = 0;     // scratch for one forward pass of max_rows
};

// One row of a forward pass: one token of one sequence at its position. Its keys and values are written to `pages`.
struct BatchRow {
  std::int32_t token;
  std::int64_t position;
  std::span<std::byte* const> pages;
  bool wants_logits = false;
  // May be computed together with many others in another way, if the machine has a faster one (kernels::matmul.h).
  // That changes the result's last bits, so it must follow from the row's place in its own sequence. See is_bulk.
  bool bulk = false;
};

// The rows that are bulk: those of a page whose tokens all belong to the prompt. What is in such a page depends on its
// tokens alone, so that it may be shared by whoever has them in a prompt too.
constexpr bool is_bulk(std::int64_t position, std::int64_t prompt_tokens) {
  return (position / kernels::kPageTokens + 1) * kernels::kPageTokens <= prompt_tokens;
}

// Called after each layer (0 .. layers-1) with the residual stream, rows x embedding_length; tests and `glm validate`.
using LayerObserver = std::function<void(std::int64_t layer, std::span<const float> hidden)>;

class Network;

class Model {
 public:
  // Throws Error: unsupported (architecture or type named), bad_file (missing tensor or wrong shape named),
  // out_of_memory, cancelled.
  static std::unique_ptr<Model> load(const model_files::GgufFile& file, const LoadOptions& options,
                                     kernels::ThreadPool& pool);
  // Without loading: reads the header only. Checks everything that load checks but the data.
  static MemoryEstimate estimate(const model_files::GgufFile& file, bool exact = false, std::int64_t max_rows = 288);

  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const Hyperparameters& hyperparameters() const;
  std::size_t page_bytes() const;  // of one cache page, all layers
  std::uint64_t weight_bytes() const;

  // Scratch memory of forward passes of up to max_rows rows. One per thread that calls forward.
  class Workspace {
   public:
    ~Workspace();
    std::int64_t max_rows() const;
    // Forward passes append to it what each of their operations took; null: no longer. It must outlive them.
    void time_operations(OperationTimes* times);

   private:
    friend class Model;
    struct State;
    explicit Workspace(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
  };
  std::unique_ptr<Workspace> make_workspace(std::int64_t max_rows) const;

  // Runs the rows through the model: bulk rows first; among them, and among the others, those of one sequence in
  // ascending position, without gaps, and together.
  // logits: one row of hyperparameters().vocabulary floats per row that wants_logits, in order.
  // Returns false when `abandon` became true: it is looked at before each half of a layer (attention, feed-forward);
  // what was written to the rows' cache slots is then undefined and logits are untouched; the same rows may be run
  // again. Throws Error(bad_argument) for a token outside the vocabulary, a position outside the pages or too many
  // rows.
  bool forward(std::span<const BatchRow> rows, float* logits, Workspace& workspace, kernels::ThreadPool& pool,
               const std::atomic<bool>* abandon = nullptr, const LayerObserver* observer = nullptr) const;

 private:
  explicit Model(std::unique_ptr<const Network> network);
  std::unique_ptr<const Network> network_;
};

// The architectures that load accepts, for messages: "llama, chatglm, glm4, gemma3".
std::string supported_architectures();

}  // namespace glmhost::architectures
