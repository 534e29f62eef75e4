#include <array>
#include <cmath>
#include <cstdio>

#include "host/cli/command.h"
#include "host/cli/console.h"
#include "host/cli/json_text.h"
#include "host/cli/model_access.h"
#include "host/cli/progress_bar.h"
#include "host/cli/text_table.h"
#include "host/cli/verbs.h"
#include "inference/generation/validation.h"

namespace glmhost::cli {
namespace {

constexpr CommandText kText = {
    .verb = "validate",
    .words = "",
    .summary = "Compare a model's fast path with exact arithmetic",
    .details =
        "Runs random inputs through the model twice, in float32 and as it runs every day, and compares what comes out "
        "of each layer and the logits: cosine similarity (1 is equal) and the largest difference. Fails with exit "
        "code 1 and names the layer when a similarity lies below the limit. Takes the memory of the model in float32.",
    .examples =
        "  glm validate\n"
        "  glm validate -m glm-edge-1.5b --limit 0.999 --json",
};

std::string decimal(double value, const char* format) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

Json agreement_json(const generation::Agreement& agreement) {
  // A NaN has no JSON form.
  const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
  return {{"cosine", number(agreement.cosine)},
          {"least_cosine", number(agreement.least_cosine)},
          {"largest_difference", number(agreement.largest_difference)}};
}

Json report_json(const generation::ValidationResult& result, double limit) {
  Json layers = Json::array();
  for (const generation::Agreement& layer : result.layers) layers.push_back(agreement_json(layer));
  const auto failure = result.failure(limit);
  return {{"layers", std::move(layers)},
          {"logits", agreement_json(result.logits)},
          {"same_choice", result.same_choice},
          {"limit", limit},
          {"failure", failure ? Json(*failure) : Json(nullptr)}};
}

std::string report_text(const generation::ValidationResult& result, double limit) {
  Table table({"", "COSINE", "WORST ROW", "LARGEST DIFFERENCE"});
  const auto add = [&](const std::string& name, const generation::Agreement& agreement) {
    table.add({name, decimal(agreement.cosine, "%.6f"), decimal(agreement.least_cosine, "%.6f"),
               decimal(agreement.largest_difference, "%.4g")});
  };
  for (std::size_t i = 0; i < result.layers.size(); ++i) add("layer " + std::to_string(i), result.layers[i]);
  add("logits", result.logits);
  return table.text() + "The likeliest token is the same in " + decimal(result.same_choice * 100, "%.1f") +
         " % of the positions.\n" +
         (result.failure(limit)
              ? ""
              : "Passed: over all rows together no cosine similarity lies below " + decimal(limit, "%g") + ".\n");
}

// Both models, two workspaces, and what both made of one input.
void require_room(const model_files::GgufFile& file, const generation::ValidationOptions& options) {
  const auto exact = architectures::Model::estimate(file, true, options.tokens);
  const auto fast = architectures::Model::estimate(file, false, options.tokens);
  const architectures::Hyperparameters shape = shape_of(file);
  options.validate(shape);
  const auto tokens = static_cast<std::uint64_t>(options.tokens);
  const auto row = static_cast<std::uint64_t>(shape.layers * shape.embedding_length + shape.vocabulary) * sizeof(float);
  require_memory(file,
                 {.weights = exact.weights + fast.weights,
                  .cache = tokens * (exact.kv_per_token + fast.kv_per_token),
                  .workspace = exact.workspace + fast.workspace + 2 * tokens * row},
                 0, "A validation holds the model in float32 beside the packed one; fewer --tokens need less.");
}

ExitCode validate(VerbArguments arguments) {
  Command command(kText);
  std::string model_name;
  std::int32_t threads = 0;
  generation::ValidationOptions options;
  float limit = 0.99f;
  bool json = false;
  std::int32_t tokens = static_cast<std::int32_t>(options.tokens);
  command.text("-m,--model", model_name, "MODEL", "A name from `glm models`, or a path to a .gguf file");
  command.number("--limit", limit, 0, 1, "The least cosine similarity that passes (0.99)");
  command.number("--inputs", options.inputs, 1, 1'000'000, "Random inputs (100)");
  command.number("--tokens", tokens, 1, static_cast<std::int32_t>(generation::ValidationOptions::kMostTokens),
                 "Tokens of each input, no more than the model's context holds (24)");
  command.number("--seed", options.seed, "Of the random inputs (1)");
  command.number("-t,--threads", threads, 1, 1024, "Threads (one for each core)");
  command.flag("--json", json, "Print one JSON object");
  command.parse(arguments);
  options.tokens = tokens;

  Interrupt interrupt;
  kernels::ThreadPool pool(thread_count(threads));
  const auto file = open_model_file(model_name);
  require_room(file, options);
  const auto exact = load_model(file, true, pool, interrupt);
  const auto fast = load_model(file, false, pool, interrupt);
  generation::ValidationResult result;
  {
    ProgressBar bar;
    options.progress = [&](double done) { bar.fraction("comparing", done); };
    options.cancel = &interrupt.flag();
    result = with_finite_weights(file, [&] { return generation::validate(*exact, *fast, pool, options); });
  }
  const auto stray = result.failure(limit);
  std::string sentence;
  if (stray) {
    sentence = "The fast path strays from exact arithmetic: " + *stray + " lies below " + decimal(limit, "%g") + ".";
  }
  if (json) {
    Json report = report_json(result, limit);
    if (stray) report.update(error_json(name(ExitCode::failure), sentence));
    print(json_line(report));
  } else {
    print(report_text(result, limit));
  }
  if (stray) throw Failure(ExitCode::failure, sentence).told();
  return ExitCode::success;
}

}  // namespace

const Verb kValidate = {kText.verb, kText.summary, validate};

}  // namespace glmhost::cli
