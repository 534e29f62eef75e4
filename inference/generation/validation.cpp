#include "inference/generation/validation.h"

#include <algorithm>
#include <cmath>

#include "inference/architectures/sequence.h"
#include "inference/error.h"
#include "inference/generation/finite.h"
#include "inference/generation/random.h"

namespace glmhost::generation {

namespace {

using architectures::Model;
using architectures::Sequence;

// What one model made of one input.
struct Trace {
  std::vector<std::vector<float>> layers;
  std::vector<float> logits;
};

class Comparison {
 public:
  void add(std::span<const float> exact, std::span<const float> fast, std::size_t width) {
    for (std::size_t row = 0; row + width <= exact.size(); row += width) {
      double dot = 0;
      double exact_square = 0;
      double fast_square = 0;
      for (std::size_t i = row; i < row + width; ++i) {
        const double a = exact[i];
        const double b = fast[i];
        dot += a * b;
        exact_square += a * a;
        fast_square += b * b;
        // Written so that NaN is not passed over.
        if (!(std::abs(a - b) <= largest_)) largest_ = std::abs(a - b);
      }
      const double scale = std::sqrt(exact_square) * std::sqrt(fast_square);
      const double cosine = exact_square == 0 && fast_square == 0 ? 1 : dot / scale;
      sum_ += cosine;
      if (!(cosine >= least_)) least_ = cosine;
      ++rows_;
    }
  }
  Agreement agreement() const {
    return {.cosine = rows_ == 0 ? 1 : sum_ / static_cast<double>(rows_),
            .least_cosine = least_,
            .largest_difference = largest_};
  }

 private:
  double sum_ = 0;
  double least_ = 1;
  double largest_ = 0;
  std::int64_t rows_ = 0;
};

Trace trace(const Model& model, std::span<const std::int32_t> tokens, Model::Workspace& workspace,
            kernels::ThreadPool& pool) {
  Trace result;
  result.logits.resize(tokens.size() * static_cast<std::size_t>(model.hyperparameters().vocabulary));
  const architectures::LayerObserver observer = [&](std::int64_t, std::span<const float> hidden) {
    result.layers.emplace_back(hidden.begin(), hidden.end());
  };
  Sequence sequence(model, static_cast<std::int64_t>(tokens.size()));
  sequence.feed(tokens, Sequence::Logits::all, result.logits.data(), workspace, pool, &observer, std::ssize(tokens));
  return result;
}

std::int64_t argmax(std::span<const float> row) {
  return std::max_element(row.begin(), row.end()) - row.begin();
}

}  // namespace

std::optional<std::string> ValidationResult::failure(double limit) const {
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    if (!(layers[layer].cosine >= limit)) return "layer " + std::to_string(layer);
  }
  if (!(logits.cosine >= limit)) return "the logits";
  return std::nullopt;
}

void ValidationOptions::validate(const architectures::Hyperparameters& model) const {
  if (inputs < 1) throw Error(ErrorKind::bad_argument, "A validation needs at least one input.");
  const std::int64_t most = std::min(model.context_length, kMostTokens);
  if (tokens >= 1 && tokens <= most) return;
  throw Error(ErrorKind::bad_argument, "The inputs of a validation have 1 to " + std::to_string(most) + " tokens" +
                                           (most < kMostTokens ? ", what the model's context holds" : "") + ", not " +
                                           std::to_string(tokens) + ".");
}

ValidationResult validate(const Model& exact, const Model& fast, kernels::ThreadPool& pool,
                          const ValidationOptions& options) {
  const architectures::Hyperparameters& h = exact.hyperparameters();
  options.validate(h);
  if (h.layers != fast.hyperparameters().layers || h.vocabulary != fast.hyperparameters().vocabulary ||
      h.embedding_length != fast.hyperparameters().embedding_length) {
    throw Error(ErrorKind::bad_argument, "The two models to compare are not from the same file.");
  }
  const auto exact_workspace = exact.make_workspace(options.tokens);
  const auto fast_workspace = fast.make_workspace(options.tokens);
  const auto embedding = static_cast<std::size_t>(h.embedding_length);
  const auto vocabulary = static_cast<std::size_t>(h.vocabulary);

  std::vector<Comparison> layers(static_cast<std::size_t>(h.layers));
  Comparison logits;
  std::int64_t same = 0;
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(options.tokens));
  for (int input = 0; input < options.inputs; ++input) {
    if (options.cancel != nullptr && options.cancel->load(std::memory_order_relaxed)) {
      throw Error(ErrorKind::cancelled, "The validation was cancelled.");
    }
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const auto counter = static_cast<std::uint64_t>(input) * tokens.size() + i;
      tokens[i] = static_cast<std::int32_t>(random_bits(options.seed, counter) % vocabulary);
    }
    const Trace reference = trace(exact, tokens, *exact_workspace, pool);
    require_finite(reference.logits);
    const Trace tried = trace(fast, tokens, *fast_workspace, pool);
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
      layers[layer].add(reference.layers[layer], tried.layers[layer], embedding);
    }
    logits.add(reference.logits, tried.logits, vocabulary);
    for (std::size_t row = 0; row < tokens.size(); ++row) {
      const auto of = [&](const Trace& t) { return std::span(t.logits).subspan(row * vocabulary, vocabulary); };
      same += argmax(of(reference)) == argmax(of(tried)) ? 1 : 0;
    }
    if (options.progress) options.progress(static_cast<double>(input + 1) / options.inputs);
  }

  ValidationResult result;
  for (const Comparison& layer : layers) result.layers.push_back(layer.agreement());
  result.logits = logits.agreement();
  result.same_choice =
      static_cast<double>(same) / (static_cast<double>(options.inputs) * static_cast<double>(options.tokens));
  return result;
}

}  // namespace glmhost::generation
