// Keeps finished answers, on a thread of its own, and only then lets their results go. Answers that finish while the
// disk is at work are written together.
#pragma once

#include "host/daemon/core.h"

namespace glmhost::daemon {

void run_memo_writer(Core& core);  // until Core::ended

}  // namespace glmhost::daemon
