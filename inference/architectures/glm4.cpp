// GLM-4-0414 and GLM-Z1, 9B and 32B (GLM team 2025): general.architecture = glm4. As chatglm, with a norm on the output
// of both parts before it is added ("sandwich").
//
//   a = rms(h; attn_norm);  q, k, v = Wq a + bq, Wk a + bk, Wv a + bv;  the first rope.dimension_count values of each
//   head rotated, pairs (2i, 2i + 1);  h = h + rms(Wo attention(q, k, v); post_attention_norm)
//   m = rms(h; ffn_norm);   [g|u] = Wup m;  h = h + rms(Wdown (silu(g) * u); post_ffw_norm)
//   logits = Wout rms(h; output_norm)
#include <deque>

#include "inference/architectures/layer.h"

namespace glmhost::architectures {

namespace {

class Glm4 final : public Network {
 public:
  Glm4(const MetadataReader& metadata, WeightPlan& plan, kernels::KvType kv)
      : Network(read_hyperparameters(metadata), plan) {
    const Hyperparameters& h = hyperparameters_;
    metadata.refuse_unless("attention.sliding_window", 0);
    metadata.integer("rope.dimension_count", 2, h.key_length);  // must be there: a guess would be silently wrong
    add_rotary_table(RotaryTable(h.rotary_dim, h.rope_theta, read_rotary_scaling(metadata, h)));
    // The text part of a vision model (GLM-4.1V) has rotary sections, equal for text, and its q and k rows permuted.
    const bool sections = metadata.file().find(metadata.full("rope.dimension_sections")) != nullptr;
    for (std::int64_t i = 0; i < h.layers; ++i) {
      add_cache({h.kv_heads, h.key_length, h.value_length, kv});
      AttentionShape shape(h, cache().back());
      if (sections) shape.pairing = kernels::RotaryPairing::half;
      layers_.emplace_back(plan, i, h, shape, Gate::silu, Norms::sandwich);
    }
  }

  void run_layer(std::int64_t index, Pass& pass) const override { layers_[static_cast<std::size_t>(index)].run(pass); }

 private:
  std::deque<DecoderLayer> layers_;
};

}  // namespace

std::unique_ptr<Network> make_glm4(const MetadataReader& metadata, WeightPlan& plan, kernels::KvType kv) {
  return std::make_unique<Glm4>(metadata, plan, kv);
}

}  // namespace glmhost::architectures
