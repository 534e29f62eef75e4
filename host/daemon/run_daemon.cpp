#include "host/daemon/run_daemon.h"

#include <iostream>
#include <memory>
#include <mutex>

#include "host/daemon/daemon.h"
#include "host/platform/signals.h"

namespace glmhost::daemon {
namespace {

// Signals may come before the daemon is up and after it is gone.
class Stopper {
 public:
  void stop() {
    const std::lock_guard lock(mutex_);
    ++asked_;
    if (daemon_ != nullptr) daemon_->stop();
  }
  void set(Daemon* daemon) {
    const std::lock_guard lock(mutex_);
    daemon_ = daemon;
    if (daemon_ != nullptr && asked_ > 0) daemon_->stop();
  }

 private:
  std::mutex mutex_;
  Daemon* daemon_ = nullptr;
  int asked_ = 0;
};

void say(const std::string& sentence) {
  std::cerr << "glm serve: " << sentence << std::endl;
}

}  // namespace

int run_daemon(const settings::Settings& settings, bool log_to_stderr) {
  Stopper stopper;
  const platform::StopSignals signals([&] { stopper.stop(); });
  try {
    DaemonOptions options;
    options.settings = settings;
    options.log_to_stderr = log_to_stderr;
    Daemon daemon(options);
    stopper.set(&daemon);
    for (const std::string& warning : settings.warnings) say(warning);
    if (const std::string problem = daemon.memo_problem(); !problem.empty()) say(problem);
    say("listening on " + daemon.endpoint().address);
    daemon.wait();
    stopper.set(nullptr);
    return kExitStopped;
  } catch (const AlreadyRunning& error) {
    say(error.what());
    return kExitAlreadyRunning;
  } catch (const CannotStart& error) {
    say(error.what());
    return kExitCannotStart;
  }
}

}  // namespace glmhost::daemon
