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
        "these flags, the later ones winning; --show-settings explains each one. On a terminal the log is shown "
        "too. `glm run` and `glm chat` start a daemon by themselves. Exit code 9 when one is running already.",
    .examples =
        "  glm serve\n"
        "  glm serve --threads 4 --keep-alive-s 10m\n"
        "  mkdir -p ~/.config/glm-host && glm serve --show-settings > ~/.config/glm-host/config.toml",
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
    command.text(key.flag, flag.value, "VALUE", std::string(key.meaning) + " (" + key.default_value + ")");
  }
  bool show = false;
  command.flag("--show-settings", show, "Print all settings as a commented config.toml and end");
  command.parse(arguments);
  if (show) {
    print(settings::documentation());
    return ExitCode::success;
  }
  std::vector<settings::Flag> given;
  for (const SettingFlag& flag : flags) {
    if (command.given(flag.key->flag)) given.push_back({std::string(flag.key->name), flag.value});
  }
  const int code = daemon::run_daemon(settings::load(given), platform::is_terminal(platform::Stream::error));
  if (code == daemon::kExitAlreadyRunning) return ExitCode::already_running;
  return code == daemon::kExitStopped ? ExitCode::success : ExitCode::failure;
}

}  // namespace

const Verb kServe = {kText.verb, kText.summary, serve};

}  // namespace glmhost::cli
