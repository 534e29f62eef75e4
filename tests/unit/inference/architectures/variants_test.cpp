// What files of these architectures may vary in. Expected: the first eight logits after 48 tokens that llama.cpp v0.5.0
// gives for the very same bytes (float32 cache, flash attention off).
#include <doctest/doctest.h>

#include <cmath>

#include "inference/architectures/sequence.h"
#include "tests/unit/inference/architectures/random_model.h"

namespace glmhost::architectures {

namespace {

std::vector<std::int32_t> input(const RandomModel& model) {
  std::vector<std::int32_t> tokens;
  for (std::int32_t i = 0; i < 48; ++i) tokens.push_back((i * 37 + 11) % static_cast<std::int32_t>(model.vocabulary));
  return tokens;
}

std::vector<float> last_logits(const RandomModel& description, std::span<const std::int32_t> tokens) {
  kernels::ThreadPool pool(1);
  LoadOptions options;
  options.exact = true;
  const std::unique_ptr<Model> model = Model::load(description.file(), options, pool);
  const auto workspace = model->make_workspace(static_cast<std::int64_t>(tokens.size()));
  Sequence sequence(*model, static_cast<std::int64_t>(tokens.size()));
  std::vector<float> logits(description.vocabulary);
  sequence.feed(tokens, Sequence::Logits::last, logits.data(), *workspace, pool);
  return logits;
}

void check_logits(const RandomModel& model, const std::vector<float>& expected, double tolerance = 2e-5) {
  const std::vector<float> logits = last_logits(model, input(model));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CAPTURE(logits[i]);
    CHECK(std::abs(logits[i] - expected[i]) < tolerance);
  }
}

}  // namespace

TEST_CASE("a plain llama") {
  check_logits({}, {-1.653843f, -1.968991f, -0.596785f, 0.061410f, -1.152306f, 0.147437f, -1.088868f, 1.878945f});
}

TEST_CASE("rotary scaling: linear") {
  RandomModel model;
  model.texts["rope.scaling.type"] = "linear";
  model.numbers["rope.scaling.factor"] = 4;
  check_logits(model, {-1.731190f, -2.798783f, 0.105340f, 1.451441f, -0.254912f, 1.411062f, -1.371811f, 1.024100f});
}

TEST_CASE("rotary scaling: linear under its older key") {
  RandomModel model;
  model.numbers["rope.scale_linear"] = 2;
  check_logits(model, {-2.031646f, -2.503915f, -0.403193f, 0.988726f, -0.875313f, 1.278374f, -1.276360f, 0.907187f});
}

TEST_CASE("rotary scaling: a factor that the type switches off") {
  RandomModel model;
  model.texts["rope.scaling.type"] = "none";
  model.numbers["rope.scaling.factor"] = 4;
  check_logits(model, {-1.653843f, -1.968991f, -0.596785f, 0.061410f, -1.152306f, 0.147437f, -1.088868f, 1.878945f});
}

TEST_CASE("rotary scaling: YaRN") {
  RandomModel model;
  model.head_length = 16;
  model.rotary = 16;
  model.texts["rope.scaling.type"] = "yarn";
  model.numbers["rope.scaling.factor"] = 4;
  model.integers["rope.scaling.original_context_length"] = 64;
  check_logits(model, {0.983993f, -0.198843f, -0.156579f, -0.218153f, -0.026790f, -0.082526f, 0.492273f, 1.275742f});
}

TEST_CASE("rotary scaling: a divisor for each pair, as Llama 3 files have") {
  RandomModel model;
  model.values["rope_freqs.weight"] = {1, 2.5f, 8, 32};
  check_logits(model, {-1.381291f, -3.015803f, -0.114662f, 1.107155f, -0.394641f, 0.824232f, -1.481955f, 1.458006f});
}

TEST_CASE("gemma3 with scaled global layers, a window and tied output") {
  RandomModel model;
  model.architecture = "gemma3";
  model.layers = 7;
  model.tied = true;
  model.integers["attention.sliding_window"] = 12;
  model.texts["rope.scaling.type"] = "linear";
  model.numbers["rope.scaling.factor"] = 8;
  // llama.cpp looks GELU up in a half-precision table; scaling the local layers too, or none, moves logits by over 0.1.
  check_logits(model, {0.709012f, -1.046653f, 0.953676f, -1.054362f, 1.020897f, -1.021974f, -1.397365f, -1.256735f},
               0.01);
}

TEST_CASE("gemma3 with the period of global layers in the file, as a number and as a list") {
  RandomModel every_sixth;
  every_sixth.architecture = "gemma3";
  every_sixth.layers = 7;
  every_sixth.integers["attention.sliding_window"] = 12;
  const std::vector<float> plain = last_logits(every_sixth, input(every_sixth));

  RandomModel number = every_sixth;
  number.integers["attention.sliding_window_pattern"] = 6;
  CHECK(last_logits(number, input(number)) == plain);
  number.integers["attention.sliding_window_pattern"] = 2;
  CHECK(last_logits(number, input(number)) != plain);

  RandomModel list = every_sixth;
  list.more_keys = [](model_files::GgufWriter& writer) {
    writer.numbers("gemma3.attention.sliding_window_pattern", model_files::kBool,
                   std::vector<std::uint8_t>{1, 1, 1, 1, 1, 0, 1});
  };
  CHECK(last_logits(list, input(list)) == plain);
}

TEST_CASE("glm4 of a vision model: q and k rows are permuted") {
  RandomModel model;
  model.architecture = "glm4";
  model.head_length = 16;
  model.more_keys = [](model_files::GgufWriter& writer) {
    writer.numbers("glm4.rope.dimension_sections", model_files::kI32, std::vector<std::int32_t>{1, 1, 2, 0});
  };
  check_logits(model, {-0.808967f, 1.656051f, -0.195823f, 0.971469f, 0.125192f, -0.723693f, 0.088196f, -0.264567f});
}

TEST_CASE("biases where a file has them") {
  RandomModel model;
  model.bias = true;
  model.shapes["blk.0.attn_output.bias"] = {32};
  model.shapes["blk.1.attn_output.bias"] = {32};
  model.seed = 3;
  check_logits(model, {0.601695f, 0.582564f, 1.460661f, 1.361976f, -0.299412f, -2.360460f, -0.520772f, 1.899733f});
}

TEST_CASE("q, k and v in one tensor, gate and up in one") {
  RandomModel model;
  model.architecture = "chatglm";
  model.fused = true;
  model.bias = true;
  model.rotary = 4;
  check_logits(model, {0.756388f, -0.121375f, 1.286994f, -0.347350f, 1.862501f, 0.561858f, -0.518827f, 0.401382f});
}

TEST_CASE("layers that predict further tokens are no part of the trunk") {
  RandomModel with;
  with.architecture = "glm4";
  with.layers = 3;
  with.integers["nextn_predict_layers"] = 1;
  RandomModel without = with;
  without.integers.clear();
  without.layers = 2;
  CHECK(last_logits(with, input(with)) == last_logits(without, input(without)));
}

}  // namespace glmhost::architectures
