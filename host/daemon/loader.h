// Brings models into memory, one after the other, on a thread of its own: nobody else waits for a disk.
#pragma once

#include "host/daemon/core.h"
#include "inference/kernels/thread_pool.h"

namespace glmhost::daemon {

// Works through Core::loads and frees Core::discarded until Core::ended.
void run_loader(Core& core, kernels::ThreadPool& engine_threads);

}  // namespace glmhost::daemon
