#include <deque>

#include "host/cli/command.h"
#include "host/cli/console.h"
#include "host/cli/verbs.h"
#include "host/daemon/run_daemon.h"
#include "host/platform/terminal.h"
#include "host/settings/settings.h"

namespace glmhost::cli {
namespace {

constexpr CommandText kText = {
    .verb = "serve",
    .words = "",
    .summary = "Be the daemon that the other programs talk to",
    .details =
        "Runs until Ctrl-C, SIGTERM or `glm stop`. Settings come from config.toml, the environment (GLM_HOST_...) and "
        "these flags, the later ones winning; --show-settings explains each one and tells where its value comes from. "
        "On a terminal the log is shown too. `glm run` and `glm chat` start a daemon by themselves. Exit code 9 when "
        "one is running already, 3 when it cannot start.",
    .examples =
        "  glm serve\n"
        "  glm serve --threads 4 --keep-alive-s 10m\n"
        "  glm serve --show-settings    # what it prints may stand in config.toml",
};

// A flag for every setting.
struct SettingFlag {
  const settings::Key* key;
  std::string value;
};

ExitCode serve(VerbArguments arguments) {
  Command command(kText);
  std::deque<SettingFlag> flags;  // their addresses stay
  for (const settings::Key& key : settings::keys()) {
    SettingFlag& flag = flags.emplace_back(SettingFlag{&key, ""});
    command.text(key.flag, flag.value, key.kind == "folder" ? "FOLDER" : "VALUE",
                 std::string(key.meaning) + " (" + key.default_value + ")");
  }
  bool show = false;
  command.flag("--show-settings", show,
               "Print the settings that hold, with these flags, as a commented config.toml and end");
  command.parse(arguments);
  std::vector<settings::Flag> given;
  for (const SettingFlag& flag : flags) {
    if (command.given(flag.key->flag)) given.push_back({std::string(flag.key->name), flag.value});
  }
  if (show) {
    print(settings::documentation(given));
    return ExitCode::success;
  }
  const int code = daemon::run_daemon(settings::load(given), platform::is_terminal(platform::Stream::error));
  if (code == daemon::kExitAlreadyRunning) return ExitCode::already_running;
  return code == daemon::kExitStopped ? ExitCode::success : ExitCode::no_daemon;
}

}  // namespace

const Verb kServe = {kText.verb, kText.summary, serve};

}  // namespace glmhost::cli
