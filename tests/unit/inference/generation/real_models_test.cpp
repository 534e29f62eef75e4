// Real models, found in the folder that GLM_TEST_MODELS names: what they say is what llama.cpp says.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "inference/architectures/sequence.h"
#include "inference/generation/validation.h"
#include "tests/unit/inference/generation/loaded_model.h"

namespace glmhost::generation {

namespace {

std::optional<std::filesystem::path> real_model(const std::string& file) {
  const char* folder = std::getenv("GLM_TEST_MODELS");
  if (folder == nullptr) {
    MESSAGE("skipped: GLM_TEST_MODELS does not name a folder with ", file);
    return std::nullopt;
  }
  const std::filesystem::path path = std::filesystem::path(folder) / file;
  REQUIRE_MESSAGE(std::filesystem::exists(path), path.string(), " is not there");
  return path;
}

// Logits of every token, the first `prompt` of them as a prompt: a matrix unit computes these in another way.
std::vector<float> logits_of(const LoadedModel& loaded, std::span<const std::int32_t> tokens, std::size_t prompt) {
  kernels::ThreadPool pool(2);
  const auto count = static_cast<std::int64_t>(tokens.size());
  const auto vocabulary = static_cast<std::size_t>(loaded.model->hyperparameters().vocabulary);
  const auto workspace = loaded.model->make_workspace(count);
  architectures::Sequence sequence(*loaded.model, count);
  std::vector<float> logits(tokens.size() * vocabulary);
  sequence.feed(tokens, architectures::Sequence::Logits::all, logits.data(), *workspace, pool, nullptr,
                static_cast<std::int64_t>(prompt));
  return logits;
}

struct Likeness {
  double same_choice;
  double perplexity;
};

// Of every token's logits: the share of rows whose likeliest token is the reference's, and the text's perplexity.
Likeness likeness(std::span<const float> logits, std::span<const std::int32_t> tokens,
                  std::span<const std::int32_t> likeliest) {
  const auto count = static_cast<double>(tokens.size());
  const std::size_t vocabulary = logits.size() / tokens.size();
  int same = 0;
  double surprise = 0;
  for (std::size_t row = 0; row < tokens.size(); ++row) {
    const auto values = logits.subspan(row * vocabulary, vocabulary);
    const auto best = std::max_element(values.begin(), values.end());
    same += best - values.begin() == likeliest[row] ? 1 : 0;
    if (row + 1 == tokens.size()) break;
    double sum = 0;
    for (const float value : values) sum += std::exp(static_cast<double>(value - *best));
    surprise += std::log(sum) + static_cast<double>(*best - values[static_cast<std::size_t>(tokens[row + 1])]);
  }
  return {.same_choice = same / count, .perplexity = std::exp(surprise / (count - 1))};
}

void check_reference(const std::string& name) {
  const nlohmann::json reference = nlohmann::json::parse(
      std::ifstream(std::filesystem::path(GLMHOST_TEST_DATA) / "models" / (name + ".reference.json")));
  const auto path = real_model(reference.at("file"));
  if (!path) return;
  const LoadedModel loaded(model_files::GgufFile::open(*path));
  const auto tokens = reference.at("tokens").get<std::vector<std::int32_t>>();
  const auto likeliest = reference.at("likeliest").get<std::vector<std::int32_t>>();

  std::vector<std::int32_t> ours =
      loaded.tokenizer.encode(reference.at("text").get<std::string>(), tokenizer::Markers::none);
  if (loaded.tokenizer.add_bos()) ours.insert(ours.begin(), loaded.tokenizer.bos().value());
  CHECK(ours == tokens);

  for (const std::size_t prompt : {std::size_t{0}, tokens.size()}) {
    const Likeness likely = likeness(logits_of(loaded, tokens, prompt), tokens, likeliest);
    CAPTURE(prompt);
    CAPTURE(likely.same_choice);
    CAPTURE(likely.perplexity);
    // Both engines round activations, and a matrix unit weights, each in its own way: near ties may fall either way.
    CHECK(likely.same_choice > 0.93);
    CHECK(std::abs(likely.perplexity / reference.at("perplexity").get<double>() - 1) < 0.02);
  }
}

}  // namespace

TEST_CASE("SmolLM2 135M in Q4_1 predicts a text as llama.cpp does") {
  check_reference("smollm2-135m-q4_1");
}

TEST_CASE("Gemma 3 270M in Q4_K_M predicts a text as llama.cpp does") {
  check_reference("gemma3-270m-q4_k_m");
}

TEST_CASE("greedy answers of real models are those of llama.cpp, but for near ties") {
  struct Case {
    const char* file;
    std::string prompt;
    std::string answer;
  };
  const std::vector<Case> cases = {
      {"SmolLM2-135M-Instruct.Q4_1.gguf",
       "<|im_start|>user\nName three uses of a pivot table<|im_end|>\n<|im_start|>assistant\n",
       "1. **Data summarization**: A pivot table is used to summarize data by creating a table that shows the relative "
       "positions of each data point within a dataset. This table can be used to create a table that shows the "
       "relative "
       "positions of each data point within a dataset.\n\n2. **Data analysis"},
      {"gemma3-270m-q4_k_m.gguf", "The capital of France is",
       " the capital of the country of France. It is the capital of the country of France. It is the capital of the "
       "country of France. It is"},
  };
  for (const Case& one : cases) {
    const auto path = real_model(one.file);
    if (!path) continue;
    const LoadedModel loaded(model_files::GgufFile::open(*path));
    std::vector<std::int32_t> tokens;
    if (loaded.tokenizer.add_bos()) tokens.push_back(loaded.tokenizer.bos().value());
    for (const std::int32_t token : loaded.tokenizer.encode(one.prompt, tokenizer::Markers::all)) {
      tokens.push_back(token);
    }
    const std::size_t prompt = tokens.size();
    for (const std::int32_t token : loaded.tokenizer.encode(one.answer, tokenizer::Markers::none)) {
      tokens.push_back(token);
    }
    REQUIRE(tokens.size() > prompt + 20);
    const std::vector<float> logits = logits_of(loaded, tokens, prompt);
    const std::size_t vocabulary = logits.size() / tokens.size();
    int others = 0;
    for (std::size_t row = prompt - 1; row + 1 < tokens.size(); ++row) {
      const auto values = std::span(logits).subspan(row * vocabulary, vocabulary);
      const float best = *std::max_element(values.begin(), values.end());
      const float theirs = values[static_cast<std::size_t>(tokens[row + 1])];
      CAPTURE(row - prompt + 1);
      CHECK(best - theirs < 0.3F);
      others += best > theirs ? 1 : 0;
    }
    CHECK(others <= 3);
  }
}

TEST_CASE("real models: the fast path agrees with the exact one in every layer") {
  for (const char* file : {"SmolLM2-135M-Instruct.Q4_1.gguf", "gemma3-270m-q4_k_m.gguf"}) {
    const auto path = real_model(file);
    if (!path) continue;
    kernels::ThreadPool pool(2);
    const model_files::GgufFile opened = model_files::GgufFile::open(*path);
    architectures::LoadOptions options;
    const auto fast = architectures::Model::load(opened, options, pool);
    options.exact = true;
    const auto exact = architectures::Model::load(opened, options, pool);
    ValidationOptions few;
    few.inputs = 4;
    const ValidationResult result = validate(*exact, *fast, pool, few);
    CHECK_FALSE(result.failure(0.99).has_value());
    CHECK(result.same_choice > 0.75);
  }
}

}  // namespace glmhost::generation
