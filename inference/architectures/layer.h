// Shared parts of a decoder layer: norms, attention block, gated feed-forward, and the buffers of one forward pass.
//
// The parts are not copied or moved: the plan that reads the weights remembers where they lie.
//
// Buffers are rows x width floats, row after row. Every part works on all rows of the pass: row-wise work is spread
// over rows, matrix products over panels of weights. A row's result never depends on the other rows.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "inference/architectures/network.h"
#include "inference/architectures/operation_times.h"
#include "inference/kernels/attention.h"
#include "inference/kernels/elementwise.h"
#include "inference/kernels/matmul.h"
#include "inference/kernels/thread_pool.h"

namespace glmhost::architectures {

// One forward pass as the layers see it.
struct Pass {
  std::span<const BatchRow> rows;
  std::int64_t bulk_rows;  // the first of them
  std::int64_t embedding_length;
  float* hidden;                         // rows x embedding_length: the residual stream
  float* normed;                         // rows x embedding_length: input of the next part
  float* branch;                         // rows x embedding_length: output of a part, to be added to hidden
  float* projected;                      // rows x projected_width: q|k|v, then gate|up
  float* attended;                       // rows x attended_width
  std::span<const float* const> angles;  // of each rotary table: rows x rotary_dim
  kernels::Activations& activations;
  std::vector<kernels::AttentionRow>& attention_rows;
  std::vector<BatchRow>& kept_rows;
  kernels::ThreadPool& pool;
  const std::atomic<bool>* abandon = nullptr;
  OperationTimes* times = nullptr;
  std::int64_t layer = 0;
  bool outputs_only = false;  // the last layer: once keys and values are stored, only rows that want logits go on

  std::int64_t count() const { return static_cast<std::int64_t>(rows.size()); }
  bool abandoned() const { return abandon != nullptr && abandon->load(std::memory_order_relaxed); }
};

// body(row) for every row, in parallel where the rows are worth waking a thread. cost: floats touched a row.
template <class Body>
void for_rows(kernels::ThreadPool& pool, std::int64_t rows, std::int64_t cost, const Body& body) {
  constexpr std::int64_t kFloatsPerPiece = 16384;  // some microseconds of work, well above a wake-up
  const std::int64_t grain = std::max<std::int64_t>(1, kFloatsPerPiece / cost);
  const auto loop = [&body](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) body(row);
  };
  if (rows <= grain) {
    loop(0, rows, 0);
  } else {
    pool.for_range(rows, grain, loop);
  }
}

// normed = rms(hidden; weight)
void normalize(Pass& pass, const std::vector<float>& weight, float epsilon);

// hidden += branch, or hidden += rms(branch; post_norm) when post_norm is not empty.
void add_branch(Pass& pass, const std::vector<float>& post_norm, float epsilon);

// Up to three matrices that read the same input; their outputs stand side by side in one row, whether the file has them
// apart or fused into one tensor.
class JoinedLinear {
 public:
  struct Part {
    std::string name;
    std::int64_t out;
  };
  // Takes `fused` when the file has it with the rows of all parts and has not the first part, else the parts one by
  // one.
  JoinedLinear(WeightPlan& plan, const std::string& fused, std::initializer_list<Part> parts, std::int64_t in);
  JoinedLinear(const JoinedLinear&) = delete;
  JoinedLinear& operator=(const JoinedLinear&) = delete;
  void run(Pass& pass, const float* input, std::int64_t input_stride, float* out, Operation operation) const;
  std::int64_t width() const { return width_; }

 private:
  std::array<Linear, 3> linears_;
  std::size_t count_ = 0;
  std::int64_t width_ = 0;
};

struct AttentionShape {
  // As the hyper-parameters say; scale 1 / sqrt(key_length), interleaved pairs, no window, no norms.
  AttentionShape(const Hyperparameters& hyperparameters, const CacheSlot& slot);

  std::int64_t embedding_length;
  std::int64_t heads;
  std::int64_t kv_heads;
  std::int64_t key_length;
  std::int64_t value_length;
  std::int64_t rotary_dim;
  kernels::RotaryPairing pairing = kernels::RotaryPairing::interleaved;
  std::size_t rotary_table = 0;  // index into Network::rotary_tables
  float scale;                   // of the scores
  std::int64_t window = 0;       // 0: all positions
  bool query_key_norm = false;
  float epsilon;
  CacheSlot cache;
};

// branch = Wo attention(rotate(Wq normed), rotate(Wk normed), Wv normed); grouped queries; keys and values go to the
// cache.
class AttentionBlock {
 public:
  // prefix: "blk.7.". Tensors attn_q, attn_k, attn_v or attn_qkv, attn_output, and attn_q_norm, attn_k_norm.
  AttentionBlock(WeightPlan& plan, const std::string& prefix, const AttentionShape& shape);
  void run(Pass& pass) const;

 private:
  void rotate_and_store(Pass& pass) const;
  void attend(Pass& pass) const;

  AttentionShape shape_;
  JoinedLinear query_key_value_;
  std::vector<float> query_norm_;
  std::vector<float> key_norm_;
  Linear output_;
};

enum class Gate { silu, gelu };

// branch = Wdown (gate(Wgate normed) * (Wup normed))
class GatedMlp {
 public:
  // Tensors ffn_gate and ffn_up, or ffn_up alone with gate's rows first; ffn_down.
  GatedMlp(WeightPlan& plan, const std::string& prefix, std::int64_t embedding_length, std::int64_t width, Gate gate);
  void run(Pass& pass) const;

 private:
  void activate(Pass& pass) const;

  std::int64_t width_;
  Gate gate_;
  JoinedLinear gate_up_;
  Linear down_;
};

enum class Norms {
  before,    // of each part's input (attn_norm, ffn_norm)
  sandwich,  // and of its output, before it is added (post_attention_norm, post_ffw_norm)
};

// h += [rms] attention(rms(h)); h += [rms] mlp(rms(h))
class DecoderLayer {
 public:
  DecoderLayer(WeightPlan& plan, std::int64_t index, const Hyperparameters& hyperparameters,
               const AttentionShape& attention, Gate gate, Norms norms);
  void run(Pass& pass) const;

 private:
  float epsilon_;
  std::vector<float> attention_norm_;
  AttentionBlock attention_;
  std::vector<float> post_attention_norm_;  // empty: none
  std::vector<float> mlp_norm_;
  GatedMlp mlp_;
  std::vector<float> post_mlp_norm_;  // empty: none
};

}  // namespace glmhost::architectures
