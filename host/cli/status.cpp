#include "host/cli/command.h"
#include "host/cli/console.h"
#include "host/cli/daemon_access.h"
#include "host/cli/json_text.h"
#include "host/cli/status_text.h"
#include "host/cli/verbs.h"

namespace glmhost::cli {
namespace {

constexpr CommandText kText = {
    .verb = "status",
    .words = "",
    .summary = "Show the daemon: models, queue, memory",
    .details = "Exit code 3 when no daemon runs.",
    .examples =
        "  glm status\n"
        "  glm status --json | jq .queue",
};

ExitCode status(VerbArguments arguments) {
  Command command(kText);
  bool json = false;
  command.flag("--json", json, "Print one JSON object: pid, version, endpoint, models, queue and more");
  command.parse(arguments);
  const protocol::Status answer = ask_status();
  print(json ? json_line(protocol::to_json(answer)) : status_text(answer));
  return ExitCode::success;
}

}  // namespace

const Verb kStatus = {kText.verb, kText.summary, status};

}  // namespace glmhost::cli
