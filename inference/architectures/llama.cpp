// Llama (Touvron et al. 2023; SmolLM2, Llama 2 and 3, Mistral): general.architecture = llama.
//
//   a = rms(h; attn_norm);  q, k, v = Wq a, Wk a, Wv a;  q, k rotated, pairs (2i, 2i + 1)
//   h = h + Wo attention(q, k, v)
//   m = rms(h; ffn_norm);   h = h + Wdown (silu(Wgate m) * Wup m)
//   logits = Wout rms(h; output_norm)
#include <cmath>
#include <deque>

#include "inference/architectures/layer.h"
#include "inference/error.h"

namespace glmhost::architectures {

namespace {

class Llama final : public Network {
 public:
  Llama(const MetadataReader& metadata, WeightPlan& plan, kernels::KvType kv)
      : Network(read_hyperparameters(metadata), plan) {
    const Hyperparameters& h = hyperparameters_;
    metadata.refuse_unless("attention.sliding_window", 0);
    add_rotary_table(RotaryTable(h.rotary_dim, h.rope_theta, read_rotary_scaling(metadata, h)));
    if (plan.has("rope_freqs.weight")) plan.vector("rope_freqs.weight", h.rotary_dim / 2, rotary_divisors_);
    for (std::int64_t i = 0; i < h.layers; ++i) {
      add_cache({h.kv_heads, h.key_length, h.value_length, kv});
      layers_.emplace_back(plan, i, h, AttentionShape(h, cache().back()), Gate::silu, Norms::before);
      // Old converters wrote the plain frequencies into every layer.
      plan.ignore(layer_prefix(i) + "attn_rot_embd.inv_freq");
    }
  }

  void run_layer(std::int64_t index, Pass& pass) const override { layers_[static_cast<std::size_t>(index)].run(pass); }

  void finish_loading() override {
    if (rotary_divisors_.empty()) return;
    for (const float divisor : rotary_divisors_) {
      if (std::isfinite(divisor) && divisor > 0) continue;
      throw Error(ErrorKind::bad_file,
                  "The tensor 'rope_freqs.weight' of the model file holds a value that is no positive number. The file "
                  "is damaged; get it again.");
    }
    rotary_tables_.front().divide(rotary_divisors_);
  }

 private:
  std::deque<DecoderLayer> layers_;
  std::vector<float> rotary_divisors_;  // Llama 3.1 and later: of the frequencies, one a pair
};

}  // namespace

std::unique_ptr<Network> make_llama(const MetadataReader& metadata, WeightPlan& plan, kernels::KvType kv) {
  return std::make_unique<Llama>(metadata, plan, kv);
}

}  // namespace glmhost::architectures
