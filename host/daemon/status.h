// What `glm status` shows.
#pragma once

#include "host/daemon/core.h"

namespace glmhost::daemon {

// Takes the lock; reads the models folder before.
protocol::Status make_status(Core& core, const std::string& endpoint, Clock::time_point started, std::uint32_t threads);

}  // namespace glmhost::daemon
