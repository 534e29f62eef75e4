#include <sys/resource.h>

#include "inference/generation/process_memory.h"

namespace glmhost::generation {

std::uint64_t peak_memory_bytes() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;  // Linux counts in KiB
}

}  // namespace glmhost::generation
