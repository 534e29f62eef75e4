#include "inference/architectures/rotary.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "inference/error.h"

namespace glmhost::architectures {

RotaryScaling read_rotary_scaling(const MetadataReader& metadata, const Hyperparameters& hyperparameters) {
  RotaryScaling scaling;
  const std::string type_key = metadata.full("rope.scaling.type");
  const std::string type(metadata.file().get_string(type_key).value_or("linear"));
  if (type != "none" && type != "linear" && type != "yarn") {
    throw Error(ErrorKind::unsupported, "The model file " + metadata.file().path().string() + " asks for " + type_key +
                                            " = '" + type + "'; this version knows none, linear and yarn.");
  }
  if (type == "none") return scaling;
  // 0 stands for "not set" in files, and the second name is the older one.
  double factor = metadata.find_number("rope.scaling.factor", 0, 1e6).value_or(0);
  if (factor == 0) factor = metadata.find_number("rope.scale_linear", 0, 1e6).value_or(0);
  scaling.factor = factor == 0 ? 1 : factor;
  if (type == "linear") return scaling;

  scaling.yarn = true;
  scaling.original_context =
      static_cast<double>(metadata.find_integer("rope.scaling.original_context_length", 1, std::int64_t{1} << 24)
                              .value_or(hyperparameters.context_length));
  scaling.attention_factor = metadata.find_number("rope.scaling.attn_factor", 0, 1e3).value_or(1);
  scaling.beta_fast = metadata.find_number("rope.scaling.yarn_beta_fast", 1e-3, 1e6).value_or(32);
  scaling.beta_slow = metadata.find_number("rope.scaling.yarn_beta_slow", 1e-3, 1e6).value_or(1);
  metadata.refuse_unless("rope.scaling.yarn_ext_factor", 1);
  metadata.refuse_unless("rope.scaling.yarn_attn_factor", 1);
  metadata.refuse_unless("rope.scaling.yarn_log_multiplier", 0);
  return scaling;
}

RotaryTable::RotaryTable(std::int64_t rotary_dim, double theta, const RotaryScaling& scaling)
    : frequencies_(static_cast<std::size_t>(rotary_dim / 2)) {
  const auto dims = static_cast<double>(rotary_dim);
  // The pair that turns `turns` times within the trained context (YaRN, equation of the correction range).
  const auto pair_of = [&](double turns) {
    return dims * std::log(scaling.original_context / (turns * 2 * std::numbers::pi)) / (2 * std::log(theta));
  };
  double low = 0;
  double high = 0;
  if (scaling.yarn) {
    low = std::max(0.0, std::floor(pair_of(scaling.beta_fast)));
    high = std::min(dims - 1, std::ceil(pair_of(scaling.beta_slow)));
    magnitude_ = scaling.attention_factor * (1 + 0.1 * std::log(scaling.factor));
  }
  for (std::size_t i = 0; i < frequencies_.size(); ++i) {
    const double plain = std::pow(theta, -2.0 * static_cast<double>(i) / dims);
    double kept = 0;  // share of the plain frequency
    if (scaling.yarn) kept = 1 - std::clamp((static_cast<double>(i) - low) / std::max(0.001, high - low), 0.0, 1.0);
    frequencies_[i] = plain * kept + plain / scaling.factor * (1 - kept);
  }
}

void RotaryTable::divide(std::span<const float> divisors) {
  for (std::size_t i = 0; i < frequencies_.size(); ++i) frequencies_[i] /= static_cast<double>(divisors[i]);
}

void RotaryTable::angles(std::int64_t position, float* out) const {
  for (const double frequency : frequencies_) {
    const double angle = static_cast<double>(position) * frequency;
    *out++ = static_cast<float>(std::cos(angle) * magnitude_);
    *out++ = static_cast<float>(std::sin(angle) * magnitude_);
  }
}

}  // namespace glmhost::architectures
