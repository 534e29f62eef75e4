#include "inference/architectures/network.h"

#include <algorithm>

namespace glmhost::architectures {

Network::Network(const Hyperparameters& hyperparameters, WeightPlan& plan) : hyperparameters_(hyperparameters) {
  const Hyperparameters& h = hyperparameters_;
  plan.matrix("token_embd.weight", h.vocabulary, h.embedding_length, embedding_);
  plan.vector("output_norm.weight", h.embedding_length, output_norm_);
  if (plan.has("output.weight")) plan.matrix("output.weight", h.vocabulary, h.embedding_length, output_);

  attended_width_ = h.heads * h.value_length;
  const std::int64_t qkv = (h.heads + h.kv_heads) * h.key_length + h.kv_heads * h.value_length;
  projected_width_ = std::max(qkv, 2 * h.feed_forward_length);
  widest_input_ = std::max({h.embedding_length, attended_width_, h.feed_forward_length});

  // Blocks past the trunk predict further tokens (nextn_predict_layers); they have no part in the logits.
  const std::int64_t blocks = MetadataReader(plan.file()).integer("block_count", 1, 1024);
  for (std::int64_t block = h.layers; block < blocks; ++block) plan.ignore_prefix(layer_prefix(block));
}

void Network::add_cache(const kernels::KvLayout& layout) {
  cache_.push_back({layout, page_bytes_});
  page_bytes_ += layout.bytes();
}

std::string layer_prefix(std::int64_t layer) {
  return "blk." + std::to_string(layer) + ".";
}

}  // namespace glmhost::architectures
