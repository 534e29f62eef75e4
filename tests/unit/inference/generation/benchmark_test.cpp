#include "inference/generation/benchmark.h"

#include <limits>

#include "inference/generation/finite.h"
#include "tests/unit/inference/generation/loaded_model.h"
#include "tests/unit/inference/generation/refused.h"

namespace glmhost::generation {

namespace {

BenchmarkOptions small_options() {
  BenchmarkOptions options;
  options.prompt_tokens = 20;
  options.generated_tokens = 5;
  options.repetitions = 3;
  return options;
}

}  // namespace

TEST_CASE("medians of odd and even numbers of samples") {
  const Rate odd = summarize({3, 1, 2});
  CHECK(odd.median == 2);
  CHECK(odd.least == 1);
  CHECK(odd.most == 3);
  CHECK(summarize({4, 1, 2, 3}).median == 2.5);
  CHECK(summarize({7}).median == 7);
}

TEST_CASE("a benchmark measures what was asked for") {
  const LoadedModel loaded = load_small();
  kernels::ThreadPool pool(2);
  BenchmarkOptions options = small_options();
  options.depth = 40;
  options.sequences = 3;
  options.prompt_piece = 7;
  std::vector<double> progress;
  options.progress = [&](double fraction) { progress.push_back(fraction); };
  const BenchmarkResult both = benchmark(*loaded.model, pool, options);
  REQUIRE(both.prompt_tps);
  REQUIRE(both.decode_tps);
  CHECK(both.prompt_tps->median > 0);
  CHECK(both.prompt_tps->least <= both.prompt_tps->median);
  CHECK(both.prompt_tps->median <= both.prompt_tps->most);
  CHECK(both.decode_tps->median > 0);
  CHECK_FALSE(both.rows_per_s);
  CHECK(both.peak_memory_bytes > loaded.model->weight_bytes());
  CHECK(progress.size() == 8);
  CHECK(progress.back() == 1);

  options.progress = nullptr;
  options.prompt_tokens = 0;
  const BenchmarkResult decode = benchmark(*loaded.model, pool, options);
  CHECK_FALSE(decode.prompt_tps);
  CHECK(decode.decode_tps);

  options.prompt_tokens = 4;
  options.shared_prefix = 45;
  const BenchmarkResult rows = benchmark(*loaded.model, pool, options);
  CHECK(rows.prompt_tps);
  CHECK(rows.decode_tps);
  REQUIRE(rows.rows_per_s);
  CHECK(rows.rows_per_s->median > 0);
}

TEST_CASE("absurd benchmarks are refused by name") {
  const LoadedModel loaded = load_small();
  kernels::ThreadPool pool(1);
  const auto refused = [&](auto change, ErrorKind kind, std::initializer_list<std::string_view> words) {
    BenchmarkOptions options = small_options();
    change(options);
    check_refused([&] { benchmark(*loaded.model, pool, options); }, kind, words);
  };
  refused([](BenchmarkOptions& o) { o.prompt_tokens = -1; }, ErrorKind::bad_argument, {"prompt_tokens", "-1"});
  refused([](BenchmarkOptions& o) { o.generated_tokens = -1; }, ErrorKind::bad_argument, {"generated_tokens"});
  refused([](BenchmarkOptions& o) { o.depth = -1; }, ErrorKind::bad_argument, {"depth"});
  refused([](BenchmarkOptions& o) { o.sequences = 0; }, ErrorKind::bad_argument, {"sequences"});
  refused([](BenchmarkOptions& o) { o.shared_prefix = -1; }, ErrorKind::bad_argument, {"shared_prefix"});
  refused([](BenchmarkOptions& o) { o.prompt_piece = 0; }, ErrorKind::bad_argument, {"prompt_piece"});
  refused([](BenchmarkOptions& o) { o.repetitions = 0; }, ErrorKind::bad_argument, {"repetitions"});
  refused([](BenchmarkOptions& o) { o.depth = 2040; }, ErrorKind::context_exceeded, {"2060 tokens", "12 more", "2048"});
  refused([](BenchmarkOptions& o) { o.shared_prefix = 2040; }, ErrorKind::context_exceeded, {"2065", "17 more"});
  const std::atomic<bool> cancel = true;
  refused([&](BenchmarkOptions& o) { o.cancel = &cancel; }, ErrorKind::cancelled, {"cancelled"});
}

TEST_CASE("the cache that a benchmark needs is known before") {
  BenchmarkOptions options;
  const auto paged = [](std::int64_t tokens) {
    return (tokens + kernels::kPageTokens - 1) / kernels::kPageTokens * kernels::kPageTokens;
  };
  options.prompt_tokens = 100;
  options.generated_tokens = 0;
  options.depth = 1000;
  CHECK(options.cache_tokens() == paged(1100));
  options.sequences = 16;
  CHECK(options.cache_tokens() == paged(1100));
  options.generated_tokens = 10;
  CHECK(options.cache_tokens() == 16 * paged(1010));
  options.depth = 0;
  options.shared_prefix = 4096;
  CHECK(options.cache_tokens() == paged(4096) + 16 * paged(110));
  CHECK(options.rows() == 256);
  options.sequences = 1000;
  CHECK(options.rows() == 1000);
}

TEST_CASE("a model whose numbers are none is not measured") {
  kernels::ThreadPool pool(1);
  const auto file = with_row("glm4-a", "blk.0.attn_norm.weight", 0, std::numeric_limits<float>::quiet_NaN());
  const auto model = architectures::Model::load(file, {}, pool);
  for (const int measured : {0, 1, 2}) {
    BenchmarkOptions options = small_options();
    if (measured == 0) options.prompt_tokens = 0;
    if (measured == 1) options.generated_tokens = 0;
    if (measured == 2) options.shared_prefix = 10;
    CHECK_THROWS_AS(benchmark(*model, pool, options), NotFinite);
  }
  CHECK(tensor_not_finite(file) == "blk.0.attn_norm.weight");
  CHECK(tensor_not_finite(model_files::GgufFile::open(small_model_path("glm4-a"))) == std::nullopt);
}

TEST_CASE("loading is timed") {
  kernels::ThreadPool pool(1);
  const TimedLoad loaded = timed_load(model_files::GgufFile::open(small_model_path("llama-a")), {}, pool);
  CHECK(loaded.model->hyperparameters().layers == 2);
  CHECK(loaded.seconds > 0);
}

}  // namespace glmhost::generation
