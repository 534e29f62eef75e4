// What every family has: embedding, output head, cache layout and rotary tables; and the one thing that differs, the
// layer. A new family is one file: a Network whose constructor names its tensors and whose run_layer states its
// equations (with parts of layer.h or its own), plus a line in registry.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "inference/architectures/hyperparameters.h"
#include "inference/architectures/rotary.h"
#include "inference/architectures/weights.h"
#include "inference/kernels/attention.h"

namespace glmhost::architectures {

struct Pass;

// Where one layer's keys and values lie inside a cache page.
struct CacheSlot {
  kernels::KvLayout layout;
  std::size_t offset;
};

class Network {
 public:
  virtual ~Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  // Updates pass.hidden. May return early when pass.abandoned().
  virtual void run_layer(std::int64_t layer, Pass& pass) const = 0;

  // Called once when all tensors are read.
  virtual void finish_loading() {}

  const Hyperparameters& hyperparameters() const { return hyperparameters_; }
  const std::vector<CacheSlot>& cache() const { return cache_; }
  std::size_t page_bytes() const { return page_bytes_; }
  const std::vector<RotaryTable>& rotary_tables() const { return rotary_tables_; }
  float embedding_scale() const { return embedding_scale_; }
  const kernels::PackedMatrix& embedding() const { return *embedding_; }
  const std::vector<float>& output_norm() const { return output_norm_; }
  // vocabulary x embedding_length; the embedding itself where the file has no output matrix (tied weights).
  const kernels::PackedMatrix& output() const { return output_ ? *output_ : *embedding_; }

  // Widths of a pass's buffers, in floats a row.
  std::int64_t projected_width() const { return projected_width_; }  // q|k|v and gate|up
  std::int64_t attended_width() const { return attended_width_; }    // the heads' outputs
  std::int64_t widest_input() const { return widest_input_; }        // of any matrix

  std::uint64_t weight_bytes = 0;  // set by the loader

 protected:
  // Names the tensors outside of the layers.
  Network(const Hyperparameters& hyperparameters, WeightPlan& plan);

  void add_cache(const kernels::KvLayout& layout);  // of the next layer
  void add_rotary_table(RotaryTable table) { rotary_tables_.push_back(std::move(table)); }

  Hyperparameters hyperparameters_;
  std::vector<RotaryTable> rotary_tables_;
  float embedding_scale_ = 1;

 private:
  Matrix embedding_;
  std::vector<float> output_norm_;
  Matrix output_;
  std::vector<CacheSlot> cache_;
  std::size_t page_bytes_ = 0;
  std::int64_t projected_width_;
  std::int64_t attended_width_;
  std::int64_t widest_input_;
};

// "blk.7."
std::string layer_prefix(std::int64_t layer);

// Families, one file each. They check hyper-parameters and shapes; nothing is read. kv: type of the cache.
std::unique_ptr<Network> make_llama(const MetadataReader& metadata, WeightPlan& plan, kernels::KvType kv);
std::unique_ptr<Network> make_chatglm(const MetadataReader& metadata, WeightPlan& plan, kernels::KvType kv);
std::unique_ptr<Network> make_glm4(const MetadataReader& metadata, WeightPlan& plan, kernels::KvType kv);
std::unique_ptr<Network> make_gemma3(const MetadataReader& metadata, WeightPlan& plan, kernels::KvType kv);

// The family of general.architecture. Throws Error(unsupported) naming it and those that are known.
std::unique_ptr<Network> make_network(const MetadataReader& metadata, WeightPlan& plan, kernels::KvType kv);

}  // namespace glmhost::architectures
