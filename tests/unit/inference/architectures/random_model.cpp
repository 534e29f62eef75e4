#include "tests/unit/inference/architectures/random_model.h"

#include <cmath>
#include <random>

namespace glmhost::architectures {

namespace {

using model_files::ByteString;
using model_files::GgufWriter;

// Norm weights lie around 1, others have the deviation 1 / sqrt(row length).
model_files::Bytes random_values(const std::string& name, const std::vector<std::uint64_t>& ne, std::mt19937& random) {
  std::uint64_t count = 1;
  for (const std::uint64_t length : ne) count *= length;
  const bool norm = name.find("norm") != std::string::npos;
  const float center = norm ? 1.0f : 0.0f;
  const float width = norm ? 0.3f : std::sqrt(3.0f / static_cast<float>(ne.size() > 1 ? ne[0] : 12));
  ByteString data;
  for (std::uint64_t i = 0; i < count; ++i) {
    const float unit = static_cast<float>(random() >> 8) * 0x1p-24f;
    data.number(center + width * (2 * unit - 1));
  }
  return data.bytes();
}

}  // namespace

model_files::Bytes RandomModel::bytes() const {
  GgufWriter writer;
  writer.text("general.architecture", architecture);
  std::map<std::string, std::uint32_t> keys = {
      {"block_count", layers},
      {"context_length", context},
      {"embedding_length", embedding},
      {"feed_forward_length", feed_forward},
      {"attention.head_count", heads},
      {"attention.head_count_kv", kv_heads},
      {"attention.key_length", head_length},
      {"attention.value_length", head_length},
      {"rope.dimension_count", rotary},
      {"vocab_size", vocabulary},
  };
  for (const auto& [key, value] : integers) keys[key] = value;
  for (const auto& [key, value] : keys) {
    if (!missing.contains(key)) writer.u32(architecture + "." + key, value);
  }
  std::map<std::string, float> floats = {{"attention.layer_norm_rms_epsilon", 1e-5f}, {"rope.freq_base", 10000.0f}};
  for (const auto& [key, value] : numbers) floats[key] = value;
  for (const auto& [key, value] : floats) {
    if (!missing.contains(key)) writer.number(architecture + "." + key, model_files::kF32, value);
  }
  for (const auto& [key, value] : texts) writer.text(architecture + "." + key, value);
  if (tokens == 0) {
    writer.text("tokenizer.ggml.model", "no_vocab");
  } else {
    std::vector<std::string> letters;
    for (std::uint32_t i = 0; i < tokens; ++i)
      letters.push_back(std::string(1 + i / 26, static_cast<char>('a' + i % 26)));
    writer.text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", "glm4");
    writer.texts("tokenizer.ggml.tokens", letters);
    writer.numbers("tokenizer.ggml.token_type", model_files::kI32, std::vector<std::int32_t>(tokens, 1));
    writer.texts("tokenizer.ggml.merges", {});
  }
  if (more_keys) more_keys(writer);

  const std::uint64_t e = embedding;
  const std::uint64_t f = feed_forward;
  const std::uint64_t q = std::uint64_t{heads} * head_length;
  const std::uint64_t kv = std::uint64_t{kv_heads} * head_length;
  const bool sandwich = architecture == "glm4" || architecture == "gemma3";
  std::vector<std::pair<std::string, std::vector<std::uint64_t>>> tensors = {{"token_embd.weight", {e, vocabulary}},
                                                                             {"output_norm.weight", {e}}};
  if (!tied) tensors.push_back({"output.weight", {e, vocabulary}});
  for (std::uint32_t i = 0; i < layers; ++i) {
    const auto add = [&](const std::string& name, const std::vector<std::uint64_t>& ne) {
      tensors.push_back({"blk." + std::to_string(i) + "." + name, ne});
    };
    add("attn_norm.weight", {e});
    if (fused) {
      add("attn_qkv.weight", {e, q + 2 * kv});
      if (bias) add("attn_qkv.bias", {q + 2 * kv});
    } else {
      add("attn_q.weight", {e, q});
      add("attn_k.weight", {e, kv});
      add("attn_v.weight", {e, kv});
      if (bias) {
        add("attn_q.bias", {q});
        add("attn_k.bias", {kv});
        add("attn_v.bias", {kv});
      }
    }
    if (architecture == "gemma3") {
      add("attn_q_norm.weight", {head_length});
      add("attn_k_norm.weight", {head_length});
    }
    add("attn_output.weight", {q, e});
    add("ffn_norm.weight", {e});
    if (sandwich) {
      add("post_attention_norm.weight", {e});
      add("post_ffw_norm.weight", {e});
    }
    if (fused || architecture == "glm4" || architecture == "chatglm") {
      add("ffn_up.weight", {e, 2 * f});
    } else {
      add("ffn_gate.weight", {e, f});
      add("ffn_up.weight", {e, f});
    }
    add("ffn_down.weight", {f, e});
  }
  std::map<std::string, std::vector<std::uint64_t>> rest = shapes;
  std::mt19937 random(seed);
  for (auto& [name, ne] : tensors) {
    if (missing.contains(name)) continue;
    if (const auto other = rest.find(name); other != rest.end()) {
      ne = other->second;
      rest.erase(other);
    }
    writer.tensor({name, 0, ne, random_values(name, ne, random)});
  }
  for (const auto& [name, ne] : rest) writer.tensor({name, 0, ne, random_values(name, ne, random)});
  for (const auto& [name, floats_of] : values) writer.f32_tensor(name, floats_of);
  return writer.bytes();
}

}  // namespace glmhost::architectures
