// The one thread that computes: it takes jobs from the queue into the models' schedulers and steps these.
#pragma once

#include "host/daemon/core.h"

namespace glmhost::daemon {

void run_engine(Core& core);  // until Core::ended

}  // namespace glmhost::daemon
