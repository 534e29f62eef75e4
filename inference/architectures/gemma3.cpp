// Gemma 3, text (Gemma team 2025): general.architecture = gemma3. Norm weights in the file hold the "+ 1".
//
//   h = sqrt(E) * embedding
//   a = rms(h; attn_norm);  q, k, v = Wq a, Wk a, Wv a;  q, k = rms of each head (attn_q_norm, attn_k_norm), then
//   rotated, pairs (i, i + R/2);  h = h + rms(Wo attention(q, k, v); post_attention_norm)
//   m = rms(h; ffn_norm);   h = h + rms(Wdown (gelu(Wgate m) * Wup m); post_ffw_norm)
//   logits = Wout rms(h; output_norm)
// Every sixth layer attends to all positions (rotary base rope.freq_base, with the file's scaling); the others to the
// last sliding_window ones (rotary base 10000, never scaled).
#include <cmath>
#include <deque>

#include "inference/architectures/layer.h"
#include "inference/error.h"

namespace glmhost::architectures {

namespace {

constexpr std::size_t kGlobalTable = 0;
constexpr std::size_t kLocalTable = 1;

// Which layers attend to a window only.
std::vector<bool> windowed_layers(const MetadataReader& metadata, const Hyperparameters& h) {
  const std::string key = metadata.full("attention.sliding_window_pattern");
  const model_files::MetadataValue* value = metadata.file().find(key);
  std::vector<bool> windowed(static_cast<std::size_t>(h.layers));
  if (h.sliding_window == 0) return windowed;
  if (value != nullptr && std::holds_alternative<std::vector<bool>>(*value)) {
    const auto& flags = std::get<std::vector<bool>>(*value);
    if (flags.size() < windowed.size()) {
      throw Error(ErrorKind::bad_file, "The model file " + metadata.file().path().string() + " has " +
                                           std::to_string(flags.size()) + " values in " + key + " for " +
                                           std::to_string(h.layers) + " layers. The file is damaged; get it again.");
    }
    for (std::size_t i = 0; i < windowed.size(); ++i) windowed[i] = flags[i];
    return windowed;
  }
  const std::int64_t period = metadata.find_integer("attention.sliding_window_pattern", 1, 1024).value_or(6);
  for (std::size_t i = 0; i < windowed.size(); ++i) {
    windowed[i] = (static_cast<std::int64_t>(i) + 1) % period != 0;
  }
  return windowed;
}

// 1 / sqrt(query_pre_attn_scalar), which the files do not store: the head's size but for the 27B model (62 layers),
// where it is embedding_length / heads.
float score_scale(const MetadataReader& metadata, const Hyperparameters& h) {
  if (const auto scale = metadata.find_number("attention.scale", 1e-6, 1e3)) return static_cast<float>(*scale);
  const std::int64_t scalar = h.layers == 62 ? h.embedding_length / h.heads : h.key_length;
  return 1.0f / std::sqrt(static_cast<float>(scalar));
}

Hyperparameters read(const MetadataReader& metadata) {
  Hyperparameters h = read_hyperparameters(metadata);
  h.sliding_window = metadata.find_integer("attention.sliding_window", 0, std::int64_t{1} << 24).value_or(0);
  h.rope_theta_local = metadata.find_number("rope.freq_base_swa", 1e-3, 1e15).value_or(10000);
  if (metadata.file().find(metadata.full("rope.freq_base")) == nullptr) h.rope_theta = 1e6;
  return h;
}

class Gemma3 final : public Network {
 public:
  Gemma3(const MetadataReader& metadata, WeightPlan& plan, kernels::KvType kv) : Network(read(metadata), plan) {
    const Hyperparameters& h = hyperparameters_;
    embedding_scale_ = std::sqrt(static_cast<float>(h.embedding_length));
    add_rotary_table(RotaryTable(h.rotary_dim, h.rope_theta, read_rotary_scaling(metadata, h)));
    add_rotary_table(RotaryTable(h.rotary_dim, h.rope_theta_local));
    const std::vector<bool> windowed = windowed_layers(metadata, h);
    for (std::int64_t i = 0; i < h.layers; ++i) {
      const bool local = windowed[static_cast<std::size_t>(i)];
      add_cache({h.kv_heads, h.key_length, h.value_length, kv});
      AttentionShape shape(h, cache().back());
      shape.pairing = kernels::RotaryPairing::half;
      shape.rotary_table = local ? kLocalTable : kGlobalTable;
      shape.scale = score_scale(metadata, h);
      shape.window = local ? h.sliding_window : 0;
      shape.query_key_norm = true;
      layers_.emplace_back(plan, i, h, shape, Gate::gelu, Norms::sandwich);
    }
  }

  void run_layer(std::int64_t index, Pass& pass) const override { layers_[static_cast<std::size_t>(index)].run(pass); }

 private:
  std::deque<DecoderLayer> layers_;
};

}  // namespace

std::unique_ptr<Network> make_gemma3(const MetadataReader& metadata, WeightPlan& plan, kernels::KvType kv) {
  return std::make_unique<Gemma3>(metadata, plan, kv);
}

}  // namespace glmhost::architectures
