#include "host/model_store/pull.h"

#include "host/cli/command.h"
#include "host/cli/console.h"
#include "host/cli/json_text.h"
#include "host/cli/model_access.h"
#include "host/cli/progress_bar.h"
#include "host/cli/verbs.h"
#include "host/model_store/byte_size.h"
#include "host/platform/paths.h"

namespace glmhost::cli {
namespace {

constexpr CommandText kText = {
    .verb = "pull",
    .words = "SOURCE",
    .summary = "Bring a model into the store",
    .details =
        "SOURCE is a name from `glm models --catalogue` (with a quantisation, as in glm-4-9b-0414:q8_0, or without), "
        "a path to a .gguf file, which is copied, or an https address of one. A download that was interrupted goes "
        "on where it ended. The file is checked before it gets its name. A model of the catalogue or a local file that "
        "this version cannot run is not brought without "
        "--force; from an https address it is kept, and what it lacks is told.",
    .examples =
        "  glm pull smollm2-135m\n"
        "  glm pull glm-4-9b-0414:q5_k_m\n"
        "  glm pull ~/Downloads/my-model.gguf --name my-model\n"
        "  glm pull https://example.org/model.gguf --sha256 b179c952...",
};

ExitCode pull(VerbArguments arguments) {
  Command command(kText);
  model_store::PullRequest request;
  bool json = false;
  command.text("--name", request.name, "NAME", "Its name in the store, as in my-model or my-model:q4_k_m");
  command.text("--sha256", request.sha256, "DIGEST", "Refuse a file with another SHA-256");
  command.flag("--replace", request.replace, "Replace a model of the same name");
  command.flag("--force", request.force, "Bring it although this version cannot run it");
  command.flag("--json", json, "Print one JSON object: name, path, bytes, was_there, and problem when it cannot run");
  command.parse(arguments);
  if (command.words().size() != 1 || command.words()[0].empty()) {
    throw Failure(ExitCode::usage,
                  "Say what to pull: one name, path or https address. `glm models --catalogue` lists the "
                  "names.");
  }
  request.source = command.words()[0];
  request.check = [](const std::filesystem::path& file) { model_files::GgufFile::open(file); };
  request.check_source = [&](const std::filesystem::path& path) {
    if (request.force) return;
    try {
      architectures::Model::estimate(model_files::GgufFile::open(path));
    } catch (const Error& error) {
      // What lacks a part may still be of use, as a vocabulary for example.
      if (error.kind() != ErrorKind::unsupported) return;
      throw Error(error.kind(), std::string(error.what()) + " `--force` copies it into the store all the same.");
    }
  };

  Interrupt interrupt;
  ProgressBar bar;
  model_store::PullMonitor monitor;
  monitor.cancel = &interrupt.flag();
  monitor.progress = [&](const model_store::PullProgress& now) { bar.bytes(now.step, now.done, now.total); };
  const model_store::PullResult result = model_store::pull(open_store(), request, monitor);
  bar.clear();
  const std::string path = platform::to_utf8(result.model.path);
  const auto problem = why_unusable(model_files::GgufFile::open(result.model.path));
  if (json) {
    Json out = {
        {"name", result.model.name}, {"path", path}, {"bytes", result.model.bytes}, {"was_there", result.was_there}};
    if (problem) out["problem"] = *problem;
    print(json_line(out));
  } else {
    print(result.model.name +
          (result.was_there ? " is in the store already: "
           : problem        ? " is stored: "
                            : " is ready: ") +
          path + " (" + model_store::byte_size(result.model.bytes) + ")\n");
  }
  flush();
  if (problem) print_error("this version cannot run " + result.model.name + ". " + *problem);
  return ExitCode::success;
}

}  // namespace

const Verb kPull = {kText.verb, kText.summary, pull};

}  // namespace glmhost::cli
