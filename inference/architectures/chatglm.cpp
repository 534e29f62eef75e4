// GLM-4-9B(-chat), CodeGeeX4, GLM-Edge (GLM team 2024): general.architecture = chatglm.
//
//   a = rms(h; attn_norm);  [q|k|v] = Wqkv a + bqkv;  the first rope.dimension_count values of each head rotated, pairs
//   (2i, 2i + 1);  h = h + Wo attention(q, k, v)
//   m = rms(h; ffn_norm);   [g|u] = Wup m;  h = h + Wdown (silu(g) * u)
//   logits = Wout rms(h; output_norm)
#include <deque>

#include "inference/architectures/layer.h"

namespace glmhost::architectures {

namespace {

class ChatGlm final : public Network {
 public:
  ChatGlm(const MetadataReader& metadata, WeightPlan& plan, kernels::KvType kv)
      : Network(read_hyperparameters(metadata), plan) {
    const Hyperparameters& h = hyperparameters_;
    metadata.refuse_unless("attention.sliding_window", 0);
    // How much of a head is rotated differs within the family (half of it, or a share): never guessed.
    metadata.integer("rope.dimension_count", 2, h.key_length);
    add_rotary_table(RotaryTable(h.rotary_dim, h.rope_theta, read_rotary_scaling(metadata, h)));
    for (std::int64_t i = 0; i < h.layers; ++i) {
      add_cache({h.kv_heads, h.key_length, h.value_length, kv});
      layers_.emplace_back(plan, i, h, AttentionShape(h, cache().back()), Gate::silu, Norms::before);
    }
    plan.ignore("rope_freqs.weight");  // the plain frequencies, written by some converters
  }

  void run_layer(std::int64_t index, Pass& pass) const override { layers_[static_cast<std::size_t>(index)].run(pass); }

 private:
  std::deque<DecoderLayer> layers_;
};

}  // namespace

std::unique_ptr<Network> make_chatglm(const MetadataReader& metadata, WeightPlan& plan, kernels::KvType kv) {
  return std::make_unique<ChatGlm>(metadata, plan, kv);
}

}  // namespace glmhost::architectures
