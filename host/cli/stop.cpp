#include <optional>
#include <thread>

#include "host/cli/command.h"
#include "host/cli/console.h"
#include "host/cli/daemon_access.h"
#include "host/cli/exit_code.h"
#include "host/cli/model_access.h"
#include "host/cli/verbs.h"
#include "host/platform/process.h"

namespace glmhost::cli {
namespace {

using namespace std::chrono_literals;

constexpr CommandText kText = {
    .verb = "stop",
    .words = "",
    .summary = "End the daemon, or unload one model",
    .details =
        "Requests that are running are cancelled. Returns when the daemon has ended, and says so; without a daemon "
        "there is nothing to do.",
    .examples =
        "  glm stop\n"
        "  glm stop -m glm-4-9b-0414     # frees its memory, the daemon goes on\n"
        "  glm stop --force              # also when it does not answer",
};

void told(const std::string& sentence) {
  print(sentence + "\n");
}

bool ended_within(std::chrono::seconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
    if (!daemon_process()) return true;
    std::this_thread::sleep_for(20ms);
  }
  return !daemon_process();
}

protocol::Result order(protocol::Control::Action action, const std::string& model) {
  return require_result(connect(WithoutDaemon::fail)->control({action, model}, 30s));
}

void force(std::uint32_t process) {
  if (process == 0 || !platform::kill_process(process) || !ended_within(5s)) {
    throw Failure(ExitCode::failure, "The daemon (process " + std::to_string(process) + ") could not be ended.");
  }
  told("The daemon (process " + std::to_string(process) +
       ") did not end by itself and was killed; finished answers are kept.");
}

ExitCode stop(VerbArguments arguments) {
  Command command(kText);
  std::string model;
  bool forced = false;
  command.text("-m,--model", model, "MODEL", "Unload this model only");
  command.flag("--force", forced, "Kill the daemon when it does not end within ten seconds");
  command.parse(arguments);
  if (command.given("--model") && model.empty()) throw Failure(ExitCode::usage, "The name after -m is empty.");
  if (!model.empty()) {
    order(protocol::Control::Action::unload_model, model_for_daemon(model));
    told("The model " + model + " is no longer in memory.");
    return ExitCode::success;
  }
  const auto process = daemon_process();
  if (!process) {
    print_error("no daemon is running.");
    return ExitCode::success;
  }
  const std::string ended = "The daemon (process " + std::to_string(*process) + ") has ended.";
  std::optional<Failure> unreached;
  try {
    order(protocol::Control::Action::stop_daemon, "");
  } catch (const Failure& failure) {
    // It may end before its answer is out, or hang, or be out of reach: what counts is whether it ends.
    unreached = failure;
  }
  if (ended_within(unreached ? 3s : forced ? 10s : 30s)) {
    told(ended);
    return ExitCode::success;
  }
  if (!forced && unreached) throw Failure(*unreached);
  if (!forced) {
    throw Failure(ExitCode::failure, "The daemon (process " + std::to_string(*process) +
                                         ") has not ended after 30 seconds. `glm stop --force` kills it.");
  }
  force(*process);
  return ExitCode::success;
}

}  // namespace

const Verb kStop = {kText.verb, kText.summary, stop};

}  // namespace glmhost::cli
