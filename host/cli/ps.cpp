#include "host/cli/command.h"
#include "host/cli/console.h"
#include "host/cli/json_text.h"
#include "host/cli/status_text.h"
#include "host/cli/verbs.h"

namespace glmhost::cli {
namespace {

constexpr CommandText kText = {
    .verb = "ps",
    .words = "",
    .summary = "List the models in memory",
    .details = "Exit code 3 when no daemon runs.",
    .examples =
        "  glm ps\n"
        "  glm ps --json | jq -r '.[].name'",
};

ExitCode ps(VerbArguments arguments) {
  Command command(kText);
  bool json = false;
  command.flag("--json", json, "Print a JSON array of models");
  command.parse(arguments);
  const protocol::Status status = ask_status();
  if (!json) {
    print(loaded_models_text(status));
    return ExitCode::success;
  }
  Json loaded = Json::array();
  const Json all = protocol::to_json(status);
  for (std::size_t i = 0; i < status.models.size(); ++i) {
    if (in_memory(status.models[i])) loaded.push_back(all.at("models").at(i));
  }
  print(json_line(loaded));
  return ExitCode::success;
}

}  // namespace

const Verb kPs = {kText.verb, kText.summary, ps};

}  // namespace glmhost::cli
