#include "host/cli/interrupt.h"

#include <cstdlib>
#include <utility>

#include "host/cli/exit_code.h"

namespace glmhost::cli {

Interrupt::Interrupt() : signals_([this] { signalled(); }) {}

void Interrupt::on_signal(std::function<void()> action) {
  const std::lock_guard lock(mutex_);
  action_ = std::move(action);
}

void Interrupt::signalled() {
  const std::lock_guard lock(mutex_);
  if (action_) return action_();
  if (asked_.exchange(true)) std::_Exit(static_cast<int>(ExitCode::cancelled));
}

}  // namespace glmhost::cli
