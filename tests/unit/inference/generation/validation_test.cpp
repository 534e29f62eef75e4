#include "inference/generation/validation.h"

#include <limits>

#include "inference/generation/finite.h"
#include "tests/unit/inference/generation/loaded_model.h"
#include "tests/unit/inference/generation/refused.h"

namespace glmhost::generation {

namespace {

std::unique_ptr<architectures::Model> load(const model_files::GgufFile& file, bool exact) {
  kernels::ThreadPool pool(1);
  architectures::LoadOptions options;
  options.exact = exact;
  return architectures::Model::load(file, options, pool);
}

}  // namespace

TEST_CASE("a model agrees with itself in every value") {
  const model_files::GgufFile file = model_files::GgufFile::open(small_model_path("glm4-a"));
  const auto model = load(file, true);
  kernels::ThreadPool pool(1);
  ValidationOptions options;
  options.inputs = 3;
  std::vector<double> progress;
  options.progress = [&](double fraction) { progress.push_back(fraction); };
  const ValidationResult result = validate(*model, *model, pool, options);
  REQUIRE(result.layers.size() == 2);
  for (const Agreement& layer : result.layers) {
    CHECK(layer.cosine == doctest::Approx(1));
    CHECK(layer.largest_difference == 0);
  }
  CHECK(result.logits.largest_difference == 0);
  CHECK(result.same_choice == 1);
  CHECK_FALSE(result.failure(0.999999).has_value());
  CHECK(progress.size() == 3);
  CHECK(progress.back() == 1);
}

TEST_CASE("the fast path of a sound model passes, a different model fails and names the layer") {
  const model_files::GgufFile file = model_files::GgufFile::open(small_model_path("glm4-a"));
  kernels::ThreadPool pool(1);
  ValidationOptions options;
  options.inputs = 5;
  const auto exact = load(file, true);
  const ValidationResult good = validate(*exact, *load(file, false), pool, options);
  CHECK_FALSE(good.failure(0.999).has_value());
  CHECK(good.logits.largest_difference > 0);
  CHECK(good.logits.least_cosine <= good.logits.cosine);

  // One row of one matrix of the second layer is off.
  const auto damaged = load(with_row("glm4-a", "blk.1.ffn_down.weight", 5, 30.0f), false);
  const ValidationResult bad = validate(*exact, *damaged, pool, options);
  CHECK(bad.failure(0.99) == "layer 1");
  CHECK(bad.layers[0].cosine > 0.999);
  CHECK(bad.layers[1].largest_difference > 0.1);

  const auto wrong_norm = load(with_row("glm4-a", "output_norm.weight", 0, -1.0f), false);
  CHECK(validate(*exact, *wrong_norm, pool, options).failure(0.99) == "the logits");

  const auto not_a_number =
      load(with_row("glm4-a", "blk.0.attn_norm.weight", 0, std::numeric_limits<float>::quiet_NaN()), false);
  const ValidationResult broken = validate(*exact, *not_a_number, pool, options);
  CHECK(broken.failure(0.99) == "layer 0");
  // The file's own fault is not the fast path's.
  CHECK_THROWS_AS(validate(*not_a_number, *not_a_number, pool, options), NotFinite);
}

TEST_CASE("a validation is refused or cancelled in words") {
  const model_files::GgufFile file = model_files::GgufFile::open(small_model_path("glm4-a"));
  const auto model = load(file, true);
  const auto other = load(model_files::GgufFile::open(small_model_path("gemma3-a")), true);
  kernels::ThreadPool pool(1);
  ValidationOptions options;
  options.inputs = 1;
  check_refused([&] { validate(*model, *other, pool, options); }, ErrorKind::bad_argument, {"same file"});
  options.tokens = 5000;
  check_refused([&] { validate(*model, *model, pool, options); }, ErrorKind::bad_argument,
                {"2048 tokens", "context", "5000"});
  options.tokens = 4;
  const std::atomic<bool> cancel = true;
  options.cancel = &cancel;
  check_refused([&] { validate(*model, *model, pool, options); }, ErrorKind::cancelled, {"cancelled"});
}

}  // namespace glmhost::generation
