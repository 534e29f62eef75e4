#include "inference/architectures/hyperparameters.h"

#include <cmath>
#include <sstream>

#include "inference/error.h"

namespace glmhost::architectures {

namespace {

template <class T>
std::string text(T value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

template <class T>
void check_range(const MetadataReader& metadata, std::string_view key, T value, T least, T most) {
  if (value >= least && value <= most) return;  // false for NaN
  throw Error(ErrorKind::bad_file, "The model file " + metadata.file().path().string() + " says " + metadata.full(key) +
                                       " = " + text(value) + ", outside of " + text(least) + " to " + text(most) +
                                       ". The file is damaged; get it again.");
}

[[noreturn]] void throw_missing(const MetadataReader& metadata, std::string_view key) {
  throw Error(ErrorKind::bad_file, "The model file " + metadata.file().path().string() + " has no key '" +
                                       metadata.full(key) +
                                       "', which its architecture needs. The file is damaged or "
                                       "was converted wrongly; get it again.");
}

bool is_array(const model_files::MetadataValue& value) {
  return std::holds_alternative<std::vector<std::int64_t>>(value) ||
         std::holds_alternative<std::vector<std::uint64_t>>(value);
}

}  // namespace

std::optional<std::int64_t> MetadataReader::find_integer(std::string_view key, std::int64_t least,
                                                         std::int64_t most) const {
  const model_files::MetadataValue* value = file_.find(full(key));
  if (value == nullptr) return std::nullopt;
  std::int64_t result = 0;
  if (is_array(*value)) {
    const std::vector<std::int64_t> layers = file_.get_integers(full(key)).value();
    if (layers.empty()) throw_missing(*this, key);
    result = layers.front();
    for (const std::int64_t layer : layers) {
      if (layer == result) continue;
      throw Error(ErrorKind::unsupported, "The model file " + file_.path().string() + " has a different " + full(key) +
                                              " from layer to layer, which this version cannot run.");
    }
  } else {
    const std::uint64_t number = file_.get_unsigned(full(key)).value();
    // Kept positive when it does not fit, so that the range check below refuses it.
    result = number > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(number);
  }
  check_range(*this, key, result, least, most);
  return result;
}

std::int64_t MetadataReader::integer(std::string_view key, std::int64_t least, std::int64_t most) const {
  const std::optional<std::int64_t> value = find_integer(key, least, most);
  if (!value) throw_missing(*this, key);
  return *value;
}

std::optional<double> MetadataReader::find_number(std::string_view key, double least, double most) const {
  const std::optional<double> value = file_.get_number(full(key));
  if (value) check_range(*this, key, *value, least, most);
  return value;
}

double MetadataReader::number(std::string_view key, double least, double most) const {
  const std::optional<double> value = find_number(key, least, most);
  if (!value) throw_missing(*this, key);
  return *value;
}

void MetadataReader::refuse_unless(std::string_view key, double neutral) const {
  const model_files::MetadataValue* value = file_.find(full(key));
  if (value == nullptr) return;
  if (const bool* flag = std::get_if<bool>(value);
      flag != nullptr ? *flag == (neutral != 0) : file_.get_number(full(key)) == neutral) {
    return;
  }
  throw Error(ErrorKind::unsupported, "The model file " + file_.path().string() + " sets '" + full(key) +
                                          "', which this version cannot run for '" + architecture_ + "' models.");
}

Hyperparameters read_hyperparameters(const MetadataReader& metadata) {
  const model_files::TensorInfo* embedding = metadata.file().find_tensor("token_embd.weight");
  if (embedding == nullptr) {
    throw Error(ErrorKind::bad_file,
                metadata.file().tensors().empty()
                    ? "The model file " + metadata.file().path().string() +
                          " has a vocabulary only and no weights: it can count and split tokens, but not answer. Take "
                          "the model's full file."
                    : "The model file " + metadata.file().path().string() +
                          " has no tensor 'token_embd.weight'. The file is incomplete; get it again.");
  }

  Hyperparameters h;
  h.architecture = metadata.architecture();
  // block_count includes the multi-token-prediction layers, which are no part of the trunk.
  const std::int64_t blocks = metadata.integer("block_count", 1, 1024);
  h.layers = blocks - metadata.find_integer("nextn_predict_layers", 0, blocks - 1).value_or(0);
  h.context_length = metadata.integer("context_length", 1, std::int64_t{1} << 24);
  h.embedding_length = metadata.integer("embedding_length", 1, 1 << 17);
  h.feed_forward_length = metadata.integer("feed_forward_length", 1, 1 << 20);
  h.heads = metadata.integer("attention.head_count", 1, 1024);
  h.kv_heads = metadata.find_integer("attention.head_count_kv", 1, h.heads).value_or(h.heads);
  if (h.heads % h.kv_heads != 0) {
    throw Error(ErrorKind::bad_file, "The model file " + metadata.file().path().string() + " says " +
                                         metadata.full("attention.head_count_kv") + " = " + std::to_string(h.kv_heads) +
                                         ", which does not divide the " + std::to_string(h.heads) +
                                         " query heads. The file is damaged; get it again.");
  }
  const auto head_length = [&](std::string_view key) {
    if (const auto value = metadata.find_integer(key, 1, 4096)) return *value;
    if (h.embedding_length % h.heads != 0) throw_missing(metadata, key);
    return h.embedding_length / h.heads;
  };
  h.key_length = head_length("attention.key_length");
  h.value_length = head_length("attention.value_length");
  h.rotary_dim = metadata.find_integer("rope.dimension_count", 2, h.key_length).value_or(h.key_length);
  if (h.rotary_dim % 2 != 0) {
    throw Error(ErrorKind::bad_file, "The model file " + metadata.file().path().string() + " says " +
                                         metadata.full("rope.dimension_count") + " = " + std::to_string(h.rotary_dim) +
                                         ", which must be even. The file is damaged; get it again.");
  }
  h.rope_theta = metadata.find_number("rope.freq_base", 1e-3, 1e15).value_or(10000);
  h.norm_epsilon = static_cast<float>(metadata.number("attention.layer_norm_rms_epsilon", 1e-12, 0.1));

  h.vocabulary = embedding->ne[1];
  if (h.vocabulary > (1 << 24)) {
    throw Error(ErrorKind::bad_file, "The model file " + metadata.file().path().string() + " claims " +
                                         std::to_string(h.vocabulary) + " tokens. The file is damaged; get it again.");
  }

  // Keys of relatives that share these architecture names; running such a file without them would be silently wrong.
  metadata.refuse_unless("expert_count", 0);
  metadata.refuse_unless("attention.clamp_kqv", 0);
  metadata.refuse_unless("attention.max_alibi_bias", 0);
  metadata.refuse_unless("attn_logit_softcapping", 0);
  metadata.refuse_unless("final_logit_softcapping", 0);
  metadata.refuse_unless("use_parallel_residual", 0);
  metadata.refuse_unless("residual_scale", 1);
  metadata.refuse_unless("embedding_scale", 1);
  metadata.refuse_unless("logit_scale", 1);
  return h;
}

}  // namespace glmhost::architectures
