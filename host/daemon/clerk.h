// Turns a request into a job that can run: finds the model's file, renders the prompt, looks for an equal request under
// way and for a kept answer, waits for the model, and makes the tokens. A kept answer needs no model in memory.
#pragma once

#include "host/daemon/core.h"

namespace glmhost::daemon {

// Serves one lane of Core::preparing until Core::ended; runs on a thread of its own.
void run_clerk(Core& core, LaneId lane);

}  // namespace glmhost::daemon
