// Loading: progress, cancel, files that shrink, and the estimate made before.
#include <filesystem>

#include "inference/architectures/model.h"
#include "inference/kernels/attention.h"
#include "tests/unit/inference/architectures/model_vector.h"
#include "tests/unit/inference/architectures/random_model.h"
#include "tests/unit/inference/model_files/refusal.h"

namespace glmhost::architectures {

namespace {

RandomModel larger_model() {
  RandomModel model;
  model.layers = 4;
  model.vocabulary = 4096;
  model.embedding = 256;
  model.feed_forward = 512;
  return model;
}

}  // namespace

TEST_CASE("progress rises from above 0 to 1") {
  kernels::ThreadPool pool(2);
  std::vector<double> seen;
  LoadOptions options;
  options.progress = [&](double fraction) { seen.push_back(fraction); };
  Model::load(larger_model().file(), options, pool);
  REQUIRE(seen.size() >= 2);
  CHECK(seen.front() > 0);
  CHECK(seen.back() == 1.0);
  CHECK(std::is_sorted(seen.begin(), seen.end()));
}

TEST_CASE("a load is cancelled before and while it runs") {
  kernels::ThreadPool pool(2);
  std::atomic<bool> cancel = true;
  LoadOptions options;
  options.cancel = &cancel;
  model_files::check_refused([&] { Model::load(larger_model().file(), options, pool); }, ErrorKind::cancelled,
                             {"cancelled"});
  cancel = false;
  int calls = 0;
  options.progress = [&](double) {
    ++calls;
    cancel = true;
  };
  kernels::ThreadPool alone(1);
  model_files::check_refused([&] { Model::load(larger_model().file(), options, alone); }, ErrorKind::cancelled,
                             {"cancelled"});
  CHECK(calls == 1);
}

TEST_CASE("an exception of the progress callback comes out of load") {
  kernels::ThreadPool pool(1);
  LoadOptions options;
  options.progress = [](double) { throw std::runtime_error("full"); };
  CHECK_THROWS_AS(Model::load(larger_model().file(), options, pool), std::runtime_error);
}

TEST_CASE("a file that is cut short after it was opened") {
  const model_files::TemporaryFolder folder;
  const std::filesystem::path path = folder.write("model.gguf", larger_model().bytes());
  const model_files::GgufFile file = model_files::GgufFile::open(path);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  for (const int threads : {1, 2}) {
    kernels::ThreadPool pool(threads);
    model_files::check_refused([&] { Model::load(file, {}, pool); }, ErrorKind::bad_file, {"model.gguf"});
  }
}

TEST_CASE("the estimate is what loading takes") {
  for (const bool exact : {false, true}) {
    for (const std::string name : {"llama-a", "chatglm-a", "glm4-a", "gemma3-a"}) {
      const std::filesystem::path path = own_vectors() / (name + ".gguf");
      kernels::ThreadPool pool(1);
      const MemoryEstimate estimate = Model::estimate(model_files::GgufFile::open(path), exact);
      const std::unique_ptr<Model> model = load_file(path, pool, exact);
      CHECK(model->weight_bytes() == estimate.weights);
      CHECK(model->page_bytes() == estimate.kv_per_token * kernels::kPageTokens);
      CHECK(estimate.workspace > 0);
    }
  }
  const RandomModel model;
  const MemoryEstimate fast = Model::estimate(model.file());
  // Two layers, two kv heads, keys and values of 8 numbers in half precision.
  CHECK(fast.kv_per_token == 2 * 2 * (8 + 8) * 2);
  CHECK(Model::estimate(model.file(), true).kv_per_token == 2 * fast.kv_per_token);
  CHECK(Model::estimate(model.file(), false, 2).workspace < fast.workspace);
}

TEST_CASE("hyper-parameters are those of the file") {
  kernels::ThreadPool pool(1);
  const std::unique_ptr<Model> model = load_file(own_vectors() / "gemma3-a.gguf", pool);
  const Hyperparameters& h = model->hyperparameters();
  CHECK(h.architecture == "gemma3");
  CHECK(h.layers == 6);
  CHECK(h.context_length == 2048);
  CHECK(h.embedding_length == 64);
  CHECK(h.feed_forward_length == 96);
  CHECK(h.heads == 4);
  CHECK(h.kv_heads == 1);
  CHECK(h.key_length == 16);
  CHECK(h.value_length == 16);
  CHECK(h.rotary_dim == 16);
  CHECK(h.rope_theta == 1e6);
  CHECK(h.rope_theta_local == 1e4);
  CHECK(h.norm_epsilon == doctest::Approx(1e-6));
  CHECK(h.sliding_window == 20);
  CHECK(h.vocabulary == 512);
}

}  // namespace glmhost::architectures
