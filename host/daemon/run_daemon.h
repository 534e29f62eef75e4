// `glm serve`: the daemon as a program.
#pragma once

#include "host/settings/settings.h"

namespace glmhost::daemon {

// Exit codes of `glm serve`.
inline constexpr int kExitStopped = 0;         // as asked, or idle for long enough
inline constexpr int kExitCannotStart = 1;     // said on stderr
inline constexpr int kExitAlreadyRunning = 3;  // likewise, with the process id

// Serves until a stop signal (SIGINT, SIGTERM, SIGHUP; the second one ends running requests at once), a client's stop,
// or idle_exit_s without work. Says on stderr where it listens, and what kept it from starting.
// log_to_stderr: the log besides, for a terminal.
int run_daemon(const settings::Settings& settings, bool log_to_stderr);

}  // namespace glmhost::daemon
