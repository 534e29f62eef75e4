#include "inference/generation/profile.h"

#include <fstream>

#include "host/cli/command.h"
#include "host/cli/console.h"
#include "host/cli/heat_map.h"
#include "host/cli/limits_text.h"
#include "host/cli/model_access.h"
#include "host/cli/progress_bar.h"
#include "host/cli/verbs.h"
#include "inference/kernels/instruction_set.h"

namespace glmhost::cli {
namespace {

constexpr CommandText kText = {
    .verb = "profile",
    .words = "[MODEL]",
    .summary = "Show where the time of a prompt and of an answer goes",
    .details =
        "Runs one prompt and one token of an answer several times, and this machine's limits, and writes a heat map of "
        "time per layer and operation with the rates that were reached: as text to stdout, and as one HTML file that "
        "opens without a network. Works without the daemon; stop that first for quiet numbers.",
    .examples =
        "  glm profile\n"
        "  glm profile glm-4-9b-0414 -p 1024 -o map.html\n"
        "  glm profile model.gguf --json -o -",
};

Json phase_json(const generation::PhaseProfile& phase) {
  Json entries = Json::array();
  for (const architectures::OperationTime& time : phase.entries) {
    entries.push_back({{"layer", time.layer},
                       {"operation", operation_name(time.operation)},
                       {"seconds", time.seconds},
                       {"bytes", time.bytes},
                       {"operations", time.operations}});
  }
  return {{"tokens", phase.tokens}, {"seconds", phase.seconds}, {"operations", std::move(entries)}};
}

ExitCode profile(VerbArguments arguments) {
  Command command(kText);
  std::string model_flag, html_name = "glm-profile.html";
  std::int32_t prompt = 512, depth = 0, threads = 0, repetitions = 5;
  bool json = false;
  constexpr std::int32_t kMost = 1 << 24;
  command.text("-m,--model", model_flag, "MODEL", "The same as MODEL");
  command.number("-p,--prompt-tokens", prompt, 2, kMost, "Tokens of the prompt (512)");
  command.number("-d,--depth", depth, 0, kMost, "Tokens that lie in the cache before (0)");
  command.number("-t,--threads", threads, 1, 1024, "Threads (one for each core)");
  command.number("-r,--repetitions", repetitions, 1, 1000, "Runs of which the median one is shown (5)");
  command.text("-o,--html", html_name, "FILE", "Where the HTML file goes; -: none is written (glm-profile.html)");
  command.flag("--json", json, "Print one JSON object instead of text");
  command.parse(arguments);
  if (command.words().size() > 1 || (!command.words().empty() && command.given("--model"))) {
    throw Failure(ExitCode::usage, "`glm profile` takes one model.");
  }
  const std::string model_name = command.words().empty() ? model_flag : command.words().front();

  Interrupt interrupt;
  ProgressBar bar;
  ProfileReport report;
  report.threads = thread_count(threads);
  kernels::ThreadPool pool(report.threads);
  const auto file = open_model_file(model_name);
  report.model = platform::to_utf8(file.path().filename());
  report.kernels = kernels::name(kernels::selected_instruction_set());
  const std::filesystem::path html = platform::path_from_utf8(html_name);
  std::error_code absent;
  if (html_name != "-" && std::filesystem::equivalent(file.path(), html, absent)) {
    throw Failure(ExitCode::usage, "--html names the model's own file, which would be lost. Take another name.");
  }
  generation::ProfileOptions options;
  options.prompt_tokens = prompt;
  options.depth = depth;
  options.repetitions = repetitions;
  options.cancel = &interrupt.flag();
  options.progress = [&](double done) { bar.fraction("running the model", done); };
  options.validate(shape_of(file));
  const auto estimate = architectures::Model::estimate(file);
  require_memory(file,
                 {.weights = estimate.weights,
                  .cache = static_cast<std::uint64_t>(depth + prompt + 1) * estimate.kv_per_token,
                  .workspace = estimate.workspace},
                 0, "A shorter prompt (-p) and less depth (-d) need less.");
  const auto model = load_model(file, false, pool, interrupt);
  report.profile = with_finite_weights(file, [&] { return generation::profile(*model, pool, options); });
  report.limits = kernels::measure_limits(pool, &interrupt.flag(),
                                          [&](double done) { bar.fraction("measuring the machine", done); });
  bar.clear();

  if (json) {
    print(json_line({{"model", report.model},
                     {"kernels", report.kernels},
                     {"threads", report.threads},
                     {"limits", limits_json(report.limits, report.threads)},
                     {"prompt", phase_json(report.profile.prompt)},
                     {"decode", phase_json(report.profile.decode)}}));
  } else {
    print(heat_map_text(report));
  }
  if (html_name != "-") {
    std::ofstream out(html, std::ios::binary | std::ios::trunc);
    out << heat_map_html(report);
    out.close();
    if (!out) {
      throw Failure(ExitCode::failure,
                    "The file `" + html_name + "` cannot be written: check its folder and the disk.");
    }
    if (!json) print("\nThe same as a page: " + html_name + "\n");
  }
  return ExitCode::success;
}

}  // namespace

const Verb kProfile = {kText.verb, kText.summary, profile};

}  // namespace glmhost::cli
