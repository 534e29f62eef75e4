// The forward pass: rows of several sequences, rows without logits, observers, abandoning, bad rows.
#include <cmath>

#include "inference/architectures/sequence.h"
#include "tests/unit/inference/architectures/model_vector.h"
#include "tests/unit/inference/architectures/random_model.h"
#include "tests/unit/inference/model_files/refusal.h"

namespace glmhost::architectures {

namespace {

constexpr std::int64_t kVocabulary = 512;

std::vector<std::int32_t> random_tokens(std::uint32_t seed, std::size_t count) {
  std::vector<std::int32_t> tokens(count);
  for (std::size_t i = 0; i < count; ++i) {
    tokens[i] = static_cast<std::int32_t>((seed * 2654435761u + i * 40503u) % kVocabulary);
  }
  return tokens;
}

std::vector<float> logits_alone(const Model& model, std::span<const std::int32_t> tokens, kernels::ThreadPool& pool) {
  const auto workspace = model.make_workspace(64);
  Sequence sequence(model, 64);
  std::vector<float> logits(static_cast<std::size_t>(kVocabulary));
  sequence.feed(tokens, Sequence::Logits::last, logits.data(), *workspace, pool);
  return logits;
}

}  // namespace

TEST_CASE("rows of several sequences do not touch each other") {
  for (const std::string name : {"llama-a", "chatglm-a", "glm4-a", "gemma3-a"}) {
    CAPTURE(name);
    kernels::ThreadPool pool(2);
    const std::unique_ptr<Model> model = load_file(own_vectors() / (name + ".gguf"), pool);
    const auto workspace = model->make_workspace(64);
    std::vector<std::vector<std::int32_t>> inputs;
    std::vector<std::unique_ptr<Sequence>> sequences;
    std::vector<BatchRow> rows;
    // Three new sequences and two that already hold all but their last token.
    for (std::uint32_t i = 0; i < 5; ++i) {
      inputs.push_back(random_tokens(i + 1, 5 + 4 * i));
      sequences.push_back(std::make_unique<Sequence>(*model, 64));
      std::size_t from = 0;
      if (i >= 3) {
        from = inputs[i].size() - 1;
        sequences[i]->feed(std::span(inputs[i]).first(from), Sequence::Logits::none, nullptr, *workspace, pool);
      }
      for (std::size_t t = from; t < inputs[i].size(); ++t) {
        rows.push_back(sequences[i]->row(inputs[i][t], static_cast<std::int64_t>(t), t + 1 == inputs[i].size()));
      }
    }
    std::vector<float> logits(5 * kVocabulary);
    REQUIRE(model->forward(rows, logits.data(), *workspace, pool));
    for (std::size_t i = 0; i < 5; ++i) {
      CAPTURE(i);
      const std::vector<float> together(logits.begin() + static_cast<std::ptrdiff_t>(i) * kVocabulary,
                                        logits.begin() + static_cast<std::ptrdiff_t>(i + 1) * kVocabulary);
      CHECK(together == logits_alone(*model, inputs[i], pool));
    }
  }
}

TEST_CASE("garbage in unused cache slots does not matter") {
  kernels::ThreadPool pool(1);
  const std::unique_ptr<Model> model = load_file(own_vectors() / "gemma3-a.gguf", pool);
  const auto workspace = model->make_workspace(64);
  const std::vector<std::int32_t> tokens = random_tokens(3, 37);
  std::vector<std::vector<float>> results;
  for (const unsigned char fill : {0x00, 0xFF}) {  // 0xFFFF is NaN in half precision
    std::vector<std::vector<std::byte>> memory(2, std::vector<std::byte>(model->page_bytes() + 64, std::byte{fill}));
    std::vector<std::byte*> pages;
    for (auto& page : memory) {
      const auto address = reinterpret_cast<std::uintptr_t>(page.data());
      pages.push_back(page.data() + (64 - address % 64) % 64);
    }
    std::vector<BatchRow> rows;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      rows.push_back({tokens[i], static_cast<std::int64_t>(i), pages, true});
    }
    std::vector<float> logits(tokens.size() * kVocabulary);
    REQUIRE(model->forward(rows, logits.data(), *workspace, pool));
    results.push_back(logits);
  }
  CHECK(results[0] == results[1]);
}

TEST_CASE("an observer sees every layer and all rows, and changes nothing") {
  kernels::ThreadPool pool(1);
  const std::unique_ptr<Model> model = load_file(own_vectors() / "glm4-a.gguf", pool);
  const auto workspace = model->make_workspace(64);
  const std::vector<std::int32_t> tokens = random_tokens(7, 20);
  std::vector<std::int64_t> layers;
  const LayerObserver observer = [&](std::int64_t layer, std::span<const float> hidden) {
    layers.push_back(layer);
    CHECK(hidden.size() == 20 * 64);
    for (const float value : hidden) REQUIRE(std::isfinite(value));
  };
  Sequence sequence(*model, 64);
  std::vector<float> logits(kVocabulary);
  sequence.feed(tokens, Sequence::Logits::last, logits.data(), *workspace, pool, &observer);
  CHECK(layers == std::vector<std::int64_t>{0, 1});
  CHECK(logits == logits_alone(*model, tokens, pool));
}

TEST_CASE("an abandoned pass leaves the logits alone and can be run again") {
  kernels::ThreadPool pool(2);
  const std::unique_ptr<Model> model = load_file(own_vectors() / "llama-a.gguf", pool);
  const auto workspace = model->make_workspace(64);
  const std::vector<std::int32_t> tokens = random_tokens(9, 30);
  Sequence sequence(*model, 64);
  std::vector<BatchRow> rows;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    rows.push_back(sequence.row(tokens[i], static_cast<std::int64_t>(i), i + 1 == tokens.size()));
  }
  std::vector<float> logits(kVocabulary, 7.0f);
  std::atomic<bool> abandon = true;
  CHECK_FALSE(model->forward(rows, logits.data(), *workspace, pool, &abandon));
  CHECK(logits == std::vector<float>(kVocabulary, 7.0f));

  // In the middle: the observer of the first layer asks for it.
  abandon = false;
  std::int64_t last_layer = -1;
  const LayerObserver observer = [&](std::int64_t layer, std::span<const float>) {
    last_layer = layer;
    abandon = true;
  };
  CHECK_FALSE(model->forward(rows, logits.data(), *workspace, pool, &abandon, &observer));
  CHECK(last_layer == 0);
  CHECK(logits == std::vector<float>(kVocabulary, 7.0f));

  abandon = false;
  CHECK(model->forward(rows, logits.data(), *workspace, pool, &abandon));
  CHECK(logits == logits_alone(*model, tokens, pool));
}

TEST_CASE("no rows, and rows that want nothing") {
  kernels::ThreadPool pool(1);
  const std::unique_ptr<Model> model = load_file(own_vectors() / "llama-a.gguf", pool);
  const auto workspace = model->make_workspace(8);
  CHECK(model->forward({}, nullptr, *workspace, pool));
  Sequence sequence(*model, 32);
  sequence.feed(random_tokens(1, 8), Sequence::Logits::none, nullptr, *workspace, pool);
  CHECK(sequence.length() == 8);
}

TEST_CASE("a sequence that begins with another's cache goes on as if it had computed it") {
  kernels::ThreadPool pool(1);
  const std::unique_ptr<Model> model = load_file(own_vectors() / "glm4-a.gguf", pool);
  const auto workspace = model->make_workspace(128);
  const std::vector<std::int32_t> tokens = random_tokens(4, 90);
  for (const std::size_t shared : {32, 45, 64, 1}) {
    CAPTURE(shared);
    Sequence whole(*model, 90);
    std::vector<float> expected(kVocabulary);
    whole.feed(tokens, Sequence::Logits::last, expected.data(), *workspace, pool);

    Sequence prefix(*model, 64);
    prefix.feed(std::span(tokens).first(shared), Sequence::Logits::none, nullptr, *workspace, pool);
    for (int copy = 0; copy < 2; ++copy) {
      Sequence rest(prefix, 90);
      CHECK(rest.length() == static_cast<std::int64_t>(shared));
      std::vector<float> logits(kVocabulary);
      rest.feed(std::span(tokens).subspan(shared), Sequence::Logits::last, logits.data(), *workspace, pool);
      CHECK(logits == expected);
    }
  }
}

TEST_CASE("rows that do not fit are refused") {
  kernels::ThreadPool pool(1);
  const std::unique_ptr<Model> model = load_file(own_vectors() / "llama-a.gguf", pool);
  const auto workspace = model->make_workspace(4);
  CHECK(workspace->max_rows() == 4);
  Sequence sequence(*model, 32);
  std::vector<float> logits(8 * kVocabulary);
  const auto run = [&](std::vector<BatchRow> rows) { model->forward(rows, logits.data(), *workspace, pool); };
  using model_files::check_refused;
  check_refused([&] { run({sequence.row(512, 0, true)}); }, ErrorKind::bad_argument, {"512", "0 to 511"});
  check_refused([&] { run({sequence.row(-1, 0, true)}); }, ErrorKind::bad_argument, {"-1"});
  check_refused([&] { run({sequence.row(1, 32, true)}); }, ErrorKind::bad_argument, {"32"});
  check_refused([&] { run({sequence.row(1, -1, true)}); }, ErrorKind::bad_argument, {"-1"});
  check_refused([&] { run(std::vector<BatchRow>(5, sequence.row(1, 0, true))); }, ErrorKind::bad_argument, {"5", "4"});
}

}  // namespace glmhost::architectures
