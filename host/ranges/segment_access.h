// A segment that this process has just written itself.
#pragma once

#include "host/ranges/segment.h"

namespace glmhost::ranges {

// Without looking at every cell.
Segment trusted_segment(SharedMemory memory);

}  // namespace glmhost::ranges
