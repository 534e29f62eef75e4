#include "inference/architectures/layer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace glmhost::architectures {

namespace {

std::uint64_t multiplications(const Pass& pass, const kernels::PackedMatrix& weights) {
  return 2 * static_cast<std::uint64_t>(pass.count() * weights.rows() * weights.columns());
}

void run_linear(Pass& pass, const Linear& linear, const float* input, std::int64_t input_stride, float* out,
                Operation operation) {
  const OperationTimer timer(pass.times, pass.layer, operation, linear.weights->bytes(),
                             multiplications(pass, *linear.weights));
  pass.activations.set(input, pass.count(), linear.weights->columns(), input_stride, pass.bulk_rows);
  const kernels::Product product{&*linear.weights, linear.bias.empty() ? nullptr : linear.bias.data(), out,
                                 linear.weights->rows()};
  kernels::matmul(pass.activations, std::span(&product, 1), pass.pool);
}

// Moves the rows that want logits to the front of the residual stream and of q|k|v, and forgets the others.
void keep_output_rows(Pass& pass, std::int64_t projected_width) {
  pass.kept_rows.clear();
  for (std::int64_t row = 0; row < pass.count(); ++row) {
    const BatchRow& source = pass.rows[static_cast<std::size_t>(row)];
    if (!source.wants_logits) continue;
    const auto to = static_cast<std::int64_t>(pass.kept_rows.size());
    if (to != row) {
      std::memcpy(pass.hidden + to * pass.embedding_length, pass.hidden + row * pass.embedding_length,
                  static_cast<std::size_t>(pass.embedding_length) * sizeof(float));
      std::memcpy(pass.projected + to * projected_width, pass.projected + row * projected_width,
                  static_cast<std::size_t>(projected_width) * sizeof(float));
    }
    pass.kept_rows.push_back(source);
  }
  pass.rows = pass.kept_rows;
  pass.bulk_rows = 0;  // too few to be worth it
}

}  // namespace

void normalize(Pass& pass, const std::vector<float>& weight, float epsilon) {
  const OperationTimer timer(pass.times, pass.layer, Operation::norm);
  const std::int64_t width = pass.embedding_length;
  for_rows(pass.pool, pass.count(), width, [&](std::int64_t row) {
    kernels::rms_norm(pass.hidden + row * width, weight.data(), epsilon, pass.normed + row * width, width);
  });
}

void add_branch(Pass& pass, const std::vector<float>& post_norm, float epsilon) {
  const OperationTimer timer(pass.times, pass.layer, Operation::residual);
  const std::int64_t width = pass.embedding_length;
  for_rows(pass.pool, pass.count(), width, [&](std::int64_t row) {
    float* branch = pass.branch + row * width;
    float* hidden = pass.hidden + row * width;
    if (!post_norm.empty()) kernels::rms_norm(branch, post_norm.data(), epsilon, branch, width);
    kernels::add(hidden, branch, hidden, width);
  });
}

JoinedLinear::JoinedLinear(WeightPlan& plan, const std::string& fused, std::initializer_list<Part> parts,
                           std::int64_t in) {
  for (const Part& part : parts) width_ += part.out;
  const model_files::TensorInfo* joined = plan.file().find_tensor(fused + ".weight");
  if (joined != nullptr && joined->ne[1] == width_ && !plan.has(parts.begin()->name + ".weight")) {
    plan.linear(fused, width_, in, linears_[0]);
    count_ = 1;
    return;
  }
  for (const Part& part : parts) plan.linear(part.name, part.out, in, linears_[count_++]);
}

void JoinedLinear::run(Pass& pass, const float* input, std::int64_t input_stride, float* out,
                       Operation operation) const {
  std::uint64_t bytes = 0;
  std::uint64_t operations = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    bytes += linears_[i].weights->bytes();
    operations += multiplications(pass, *linears_[i].weights);
  }
  const OperationTimer timer(pass.times, pass.layer, operation, bytes, operations);
  std::array<kernels::Product, 3> products;
  float* part_out = out;
  for (std::size_t i = 0; i < count_; ++i) {
    const Linear& linear = linears_[i];
    products[i] = {&*linear.weights, linear.bias.empty() ? nullptr : linear.bias.data(), part_out, width_};
    part_out += linear.weights->rows();
  }
  pass.activations.set(input, pass.count(), linears_[0].weights->columns(), input_stride, pass.bulk_rows);
  kernels::matmul(pass.activations, std::span(products).first(count_), pass.pool);
}

AttentionShape::AttentionShape(const Hyperparameters& hyperparameters, const CacheSlot& slot)
    : embedding_length(hyperparameters.embedding_length),
      heads(hyperparameters.heads),
      kv_heads(hyperparameters.kv_heads),
      key_length(hyperparameters.key_length),
      value_length(hyperparameters.value_length),
      rotary_dim(hyperparameters.rotary_dim),
      scale(1.0f / std::sqrt(static_cast<float>(hyperparameters.key_length))),
      epsilon(hyperparameters.norm_epsilon),
      cache(slot) {}

AttentionBlock::AttentionBlock(WeightPlan& plan, const std::string& prefix, const AttentionShape& shape)
    : shape_(shape),
      query_key_value_(plan, prefix + "attn_qkv",
                       {{prefix + "attn_q", shape.heads * shape.key_length},
                        {prefix + "attn_k", shape.kv_heads * shape.key_length},
                        {prefix + "attn_v", shape.kv_heads * shape.value_length}},
                       shape.embedding_length) {
  if (shape.query_key_norm) {
    plan.vector(prefix + "attn_q_norm.weight", shape.key_length, query_norm_);
    plan.vector(prefix + "attn_k_norm.weight", shape.key_length, key_norm_);
  }
  plan.linear(prefix + "attn_output", shape.embedding_length, shape.heads * shape.value_length, output_);
}

void AttentionBlock::run(Pass& pass) const {
  const AttentionShape& s = shape_;
  const std::int64_t width = query_key_value_.width();
  query_key_value_.run(pass, pass.normed, pass.embedding_length, pass.projected, Operation::query_key_value);
  rotate_and_store(pass);
  if (pass.outputs_only) keep_output_rows(pass, width);
  if (pass.rows.empty()) return;
  attend(pass);
  run_linear(pass, output_, pass.attended, s.heads * s.value_length, pass.branch, Operation::attention_output);
}

void AttentionBlock::rotate_and_store(Pass& pass) const {
  const OperationTimer timer(pass.times, pass.layer, Operation::rotary_and_cache);
  const AttentionShape& s = shape_;
  const std::int64_t width = query_key_value_.width();
  const float* angles = pass.angles[s.rotary_table];
  for_rows(pass.pool, pass.count(), 4 * width, [&](std::int64_t row) {
    float* query = pass.projected + row * width;
    float* key = query + s.heads * s.key_length;
    const float* value = key + s.kv_heads * s.key_length;
    if (s.query_key_norm) {
      for (std::int64_t head = 0; head < s.heads + s.kv_heads; ++head) {
        float* x = query + head * s.key_length;  // the keys' heads follow the queries'
        const std::vector<float>& norm = head < s.heads ? query_norm_ : key_norm_;
        kernels::rms_norm(x, norm.data(), s.epsilon, x, s.key_length);
      }
    }
    kernels::rotate(query, s.heads + s.kv_heads, s.key_length, s.rotary_dim, s.pairing, angles + row * s.rotary_dim);
    const BatchRow& source = pass.rows[static_cast<std::size_t>(row)];
    std::byte* page = source.pages[static_cast<std::size_t>(source.position / kernels::kPageTokens)];
    kernels::store_kv(s.cache.layout, page + s.cache.offset, source.position % kernels::kPageTokens, key, value);
  });
}

void AttentionBlock::attend(Pass& pass) const {
  const AttentionShape& s = shape_;
  std::uint64_t positions = 0;  // that the rows see, and that lie in the cache for them
  std::uint64_t cached = 0;
  if (pass.times != nullptr) {
    for (const BatchRow& row : pass.rows) {
      const std::int64_t seen = s.window > 0 ? std::min(row.position + 1, s.window) : row.position + 1;
      positions += static_cast<std::uint64_t>(seen);
      // Rows of one sequence share what they read: the last of them reads it all.
      const bool last = &row == &pass.rows.back() || (&row + 1)->pages.data() != row.pages.data();
      if (last) cached += static_cast<std::uint64_t>(seen);
    }
  }
  const std::uint64_t position_bytes = s.cache.layout.bytes() / static_cast<std::uint64_t>(kernels::kPageTokens);
  const OperationTimer timer(pass.times, pass.layer, Operation::attention, cached * position_bytes,
                             2 * positions * static_cast<std::uint64_t>(s.heads * (s.key_length + s.value_length)));
  const std::int64_t width = query_key_value_.width();
  const std::int64_t attended_width = s.heads * s.value_length;
  pass.attention_rows.clear();
  for (std::int64_t row = 0; row < pass.count(); ++row) {
    const BatchRow& source = pass.rows[static_cast<std::size_t>(row)];
    pass.attention_rows.push_back({pass.projected + row * width, pass.attended + row * attended_width, source.position,
                                   source.pages, row < pass.bulk_rows});
  }
  kernels::attention({s.cache.layout, s.cache.offset, s.heads, s.scale, s.window}, pass.attention_rows, pass.pool);
}

GatedMlp::GatedMlp(WeightPlan& plan, const std::string& prefix, std::int64_t embedding_length, std::int64_t width,
                   Gate gate)
    : width_(width),
      gate_(gate),
      gate_up_(plan, prefix + "ffn_up", {{prefix + "ffn_gate", width}, {prefix + "ffn_up", width}}, embedding_length) {
  plan.linear(prefix + "ffn_down", embedding_length, width, down_);
}

void GatedMlp::run(Pass& pass) const {
  if (pass.rows.empty()) return;
  gate_up_.run(pass, pass.normed, pass.embedding_length, pass.projected, Operation::gate_up);
  activate(pass);
  run_linear(pass, down_, pass.projected, 2 * width_, pass.branch, Operation::down);
}

void GatedMlp::activate(Pass& pass) const {
  const OperationTimer timer(pass.times, pass.layer, Operation::activation);
  for_rows(pass.pool, pass.count(), 4 * width_, [&](std::int64_t row) {
    float* gate = pass.projected + row * 2 * width_;
    const float* up = gate + width_;
    if (gate_ == Gate::silu) {
      kernels::silu_mul(gate, up, gate, width_);
    } else {
      kernels::gelu_mul(gate, up, gate, width_);
    }
  });
}

DecoderLayer::DecoderLayer(WeightPlan& plan, std::int64_t index, const Hyperparameters& hyperparameters,
                           const AttentionShape& attention, Gate gate, Norms norms)
    : epsilon_(hyperparameters.norm_epsilon),
      attention_(plan, layer_prefix(index), attention),
      mlp_(plan, layer_prefix(index), hyperparameters.embedding_length, hyperparameters.feed_forward_length, gate) {
  const std::string prefix = layer_prefix(index);
  const std::int64_t width = hyperparameters.embedding_length;
  plan.vector(prefix + "attn_norm.weight", width, attention_norm_);
  plan.vector(prefix + "ffn_norm.weight", width, mlp_norm_);
  if (norms == Norms::sandwich) {
    plan.vector(prefix + "post_attention_norm.weight", width, post_attention_norm_);
    plan.vector(prefix + "post_ffw_norm.weight", width, post_mlp_norm_);
  }
}

void DecoderLayer::run(Pass& pass) const {
  normalize(pass, attention_norm_, epsilon_);
  attention_.run(pass);
  add_branch(pass, post_attention_norm_, epsilon_);
  if (pass.abandoned()) return;
  normalize(pass, mlp_norm_, epsilon_);
  mlp_.run(pass);
  add_branch(pass, post_mlp_norm_, epsilon_);
}

}  // namespace glmhost::architectures
