#include <array>
#include <cstdio>

#include "host/cli/command.h"
#include "host/cli/console.h"
#include "host/cli/json_text.h"
#include "host/cli/limits_text.h"
#include "host/cli/model_access.h"
#include "host/cli/progress_bar.h"
#include "host/cli/verbs.h"
#include "host/model_store/byte_size.h"
#include "host/platform/paths.h"
#include "inference/generation/benchmark.h"
#include "inference/kernels/instruction_set.h"

namespace glmhost::cli {
namespace {

constexpr CommandText kText = {
    .verb = "bench",
    .words = "",
    .summary = "Measure how fast a model runs on this machine",
    .details =
        "Medians of several runs: prompt tokens a second, tokens a second while answering, and with --shared-prefix "
        "also rows a second (a row is one cell of a filled column: the common prefix, -p tokens of its own, an answer "
        "of "
        "-n tokens). Works without the daemon; stop that first for quiet numbers. --limits measures "
        "what this machine can do at most, without a model.",
    .examples =
        "  glm bench\n"
        "  glm bench -m glm-4-9b-0414 -p 512 -n 128 -t 8 -r 5 --json\n"
        "  glm bench -d 4096 -b 8     # at depth 4096, eight answers at once\n"
        "  glm bench --limits\n"
        "  glm bench --shared-prefix 256 -p 32 -n 16 -b 16",
};

std::string rate_text(const char* name, const generation::Rate& rate) {
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "%-22s %10.1f /s   (%.1f to %.1f)\n", name, rate.median, rate.least,
                rate.most);
  return text.data();
}

struct Report {
  std::string model;
  std::uint64_t file_bytes = 0;
  int threads = 0;
  double load_s = 0;
  generation::BenchmarkOptions options;
  generation::BenchmarkResult result;

  Json json() const {
    Json out = {{"model", model},
                {"file_bytes", file_bytes},
                {"threads", threads},
                {"kernels", std::string(kernels::name(kernels::selected_instruction_set()))},
                {"prompt_tokens", options.prompt_tokens},
                {"generated_tokens", options.generated_tokens},
                {"depth", options.depth},
                {"sequences", options.sequences},
                {"shared_prefix", options.shared_prefix},
                {"repetitions", options.repetitions}};
    Json spread = Json::object();
    const auto add = [&](const char* name, const std::optional<generation::Rate>& rate) {
      if (!rate) return;
      out[name] = rate->median;
      spread[name] = {rate->least, rate->most};
    };
    add("prompt_tps", result.prompt_tps);
    add("decode_tps", result.decode_tps);
    add("rows_per_s", result.rows_per_s);
    out["load_s"] = load_s;
    out["peak_memory_bytes"] = result.peak_memory_bytes;
    out["spread"] = std::move(spread);
    return out;
  }

  std::string text() const {
    std::array<char, 32> seconds{};
    std::snprintf(seconds.data(), seconds.size(), "%.2f s", load_s);
    std::string out = model + ", " + model_store::byte_size(file_bytes) + ", " + std::to_string(threads) +
                      (threads == 1 ? " thread, " : " threads, ") +
                      std::string(kernels::name(kernels::selected_instruction_set())) + "\n";
    if (result.prompt_tps) out += rate_text("prompt tokens", *result.prompt_tps);
    if (result.decode_tps) out += rate_text("answer tokens", *result.decode_tps);
    if (result.rows_per_s) out += rate_text("rows", *result.rows_per_s);
    return out + "loaded in " + seconds.data() + ", at most " + model_store::byte_size(result.peak_memory_bytes) +
           " of memory\n";
  }
};

ExitCode measure_machine(int threads, bool json, const Interrupt& interrupt, ProgressBar& bar) {
  kernels::ThreadPool pool(threads);
  const kernels::MachineLimits limits = kernels::measure_limits(
      pool, &interrupt.flag(), [&](double done) { bar.fraction("measuring the machine", done); });
  bar.clear();
  print(json ? json_line(limits_json(limits, threads)) : limits_text(limits, threads));
  return ExitCode::success;
}

ExitCode bench(VerbArguments arguments) {
  Command command(kText);
  std::string model, limit_text;
  std::int32_t prompt = 512, generated = 128, threads = 0, depth = 0, sequences = 1, prefix = 0, repetitions = 5;
  bool json = false, limits = false;
  constexpr std::int32_t kMost = 1 << 24;
  command.text("-m,--model", model, "MODEL", "A name from `glm models`, or a path to a .gguf file");
  command.number("-p,--prompt-tokens", prompt, 0, kMost, "Tokens of the prompt; 0: not measured (512)");
  command.number("-n,--generated-tokens", generated, 0, kMost, "Tokens of the answer; 0: not measured (128)");
  command.number("-t,--threads", threads, 1, 1024, "Threads (one for each core)");
  command.number("-d,--depth", depth, 0, kMost, "Tokens that lie in the cache before (0)");
  command.number("-b,--sequences", sequences, 1, 4096, "Answers computed together (1)");
  command.number("--shared-prefix", prefix, 0, kMost, "Tokens that all rows begin with; measures rows a second (0)");
  command.number("-r,--repetitions", repetitions, 1, 1000, "Runs of which the median is taken (5)");
  command.text("--memory-limit", limit_text, "SIZE", "Refuse what needs more than this, as in 8GiB (memory_limit)");
  command.flag("--limits", limits, "Measure the machine instead of a model: reading memory, arithmetic");
  command.flag("--json", json, "Print one JSON object");
  command.parse(arguments);
  const std::uint64_t limit = byte_count("--memory-limit", limit_text);

  if (prompt == 0 && generated == 0) throw Failure(ExitCode::usage, "With -p 0 and -n 0 there is nothing to measure.");

  Interrupt interrupt;
  ProgressBar bar;
  Report report;
  report.threads = thread_count(threads);
  if (limits) return measure_machine(report.threads, json, interrupt, bar);
  generation::BenchmarkOptions& options = report.options;
  options.prompt_tokens = prompt;
  options.generated_tokens = generated;
  options.depth = depth;
  options.sequences = sequences;
  options.shared_prefix = prefix;
  options.repetitions = repetitions;
  options.progress = [&](double done) { bar.fraction("measuring", done); };
  options.cancel = &interrupt.flag();

  kernels::ThreadPool pool(report.threads);
  const auto file = open_model_file(model);
  report.model = platform::to_utf8(file.path().filename());
  report.file_bytes = file.file_bytes();
  const auto estimate = architectures::Model::estimate(file, false, options.rows());
  const architectures::Hyperparameters shape = shape_of(file);
  options.validate(shape);
  require_memory(file,
                 {.weights = estimate.weights,
                  .cache = static_cast<std::uint64_t>(options.cache_tokens()) * estimate.kv_per_token,
                  .workspace = estimate.workspace +
                               static_cast<std::uint64_t>(options.sequences * shape.vocabulary) * sizeof(float)},
                 limit, "Fewer answers together (-b), less depth (-d) and shorter texts (-p, -n) need less.");
  architectures::LoadOptions load;
  load.progress = [&](double done) { bar.fraction("loading the model", done); };
  load.cancel = &interrupt.flag();
  const generation::TimedLoad loaded = generation::timed_load(file, load, pool);
  report.load_s = loaded.seconds;
  report.result = with_finite_weights(file, [&] { return generation::benchmark(*loaded.model, pool, options); });
  bar.clear();
  print(json ? json_line(report.json()) : report.text());
  return ExitCode::success;
}

}  // namespace

const Verb kBench = {kText.verb, kText.summary, bench};

}  // namespace glmhost::cli
