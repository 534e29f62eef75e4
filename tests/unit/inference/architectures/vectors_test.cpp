// Exact logits equal those of the reference implementations.
#include <algorithm>
#include <array>
#include <cmath>

#include "inference/architectures/sequence.h"
#include "tests/unit/inference/architectures/model_vector.h"

namespace glmhost::architectures {

namespace {

constexpr float kTolerance = 1e-4f;

struct Agreement {
  float difference = 0;
  bool same_argmax = true;
};

Agreement compare(const ModelVector& vector, const std::vector<float>& logits) {
  Agreement agreement;
  const std::size_t skipped = logits.size() - vector.logits.size();
  for (std::int64_t row = 0; row < vector.rows(); ++row) {
    const float* expected = vector.logits.data() + row * vector.vocabulary;
    const float* got = logits.data() + skipped + static_cast<std::size_t>(row * vector.vocabulary);
    for (std::int64_t i = 0; i < vector.vocabulary; ++i) {
      const float difference = std::abs(expected[i] - got[i]);
      agreement.difference = std::isnan(difference) ? INFINITY : std::max(agreement.difference, difference);
    }
    agreement.same_argmax =
        agreement.same_argmax && std::max_element(expected, expected + vector.vocabulary) - expected ==
                                     std::max_element(got, got + vector.vocabulary) - got;
  }
  return agreement;
}

// Logits of every token, fed in pieces of the given sizes, again and again.
std::vector<float> run(const Model& model, const ModelVector& vector, const std::vector<std::size_t>& pieces,
                       kernels::ThreadPool& pool) {
  const auto count = vector.tokens.size();
  const auto workspace = model.make_workspace(static_cast<std::int64_t>(count));
  Sequence sequence(model, static_cast<std::int64_t>(count));
  std::vector<float> logits(count * static_cast<std::size_t>(vector.vocabulary));
  std::size_t done = 0;
  for (std::size_t piece = 0; done < count; ++piece) {
    const std::size_t size = std::min(pieces[piece % pieces.size()], count - done);
    sequence.feed(std::span(vector.tokens).subspan(done, size), Sequence::Logits::all,
                  logits.data() + done * static_cast<std::size_t>(vector.vocabulary), *workspace, pool);
    done += size;
  }
  return logits;
}

void check_vector(const std::filesystem::path& folder, const std::string& name) {
  CAPTURE(name);
  const ModelVector vector = read_vector(folder, name);
  for (const int threads : {1, 2}) {
    CAPTURE(threads);
    kernels::ThreadPool pool(threads);
    const std::unique_ptr<Model> model = load_file(vector.file, pool, true);
    REQUIRE(model->hyperparameters().vocabulary == vector.vocabulary);
    const std::vector<float> whole = run(*model, vector, {vector.tokens.size()}, pool);
    const Agreement agreement = compare(vector, whole);
    CAPTURE(agreement.difference);
    CHECK(agreement.difference <= kTolerance);
    CHECK(agreement.same_argmax);
    // Fed in any pieces, the result is the same to the last bit.
    CHECK(run(*model, vector, {1}, pool) == whole);
    CHECK(run(*model, vector, {7, 1, 3}, pool) == whole);
    CHECK(run(*model, vector, {33, 2}, pool) == whole);
  }
}

}  // namespace

TEST_CASE("exact logits equal the reference's") {
  for (const std::string name : {"llama-a", "chatglm-a", "glm4-a", "gemma3-a"}) check_vector(own_vectors(), name);
}

TEST_CASE("exact logits equal the reference's for every shared vector of these architectures") {
  if (!std::filesystem::exists(shared_vectors())) {
    MESSAGE("skipped: ", shared_vectors().string(), " is not there");
    return;
  }
  for (const std::string name :
       {"llama-a", "llama-b", "chatglm-a", "chatglm-b", "glm4-a", "glm4-b", "glm4-Q4_K", "gemma3-a", "gemma3-b"}) {
    check_vector(shared_vectors(), name);
  }
}

TEST_CASE("the fast path stays close to the exact logits") {
  // These files hold float32 weights: what differs is the cache in half precision.
  for (const std::string name : {"llama-a", "chatglm-a", "glm4-a", "gemma3-a"}) {
    CAPTURE(name);
    const ModelVector vector = read_vector(own_vectors(), name);
    kernels::ThreadPool pool(2);
    const Agreement agreement =
        compare(vector, run(*load_file(vector.file, pool), vector, {vector.tokens.size()}, pool));
    CHECK(agreement.difference > 0);
    CHECK(agreement.difference < 0.02f);
  }
}

}  // namespace glmhost::architectures
