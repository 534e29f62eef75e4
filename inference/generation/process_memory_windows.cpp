#include <windows.h>
// Order matters: psapi.h needs windows.h.
#include <psapi.h>

#include "inference/generation/process_memory.h"

namespace glmhost::generation {

std::uint64_t peak_memory_bytes() {
  PROCESS_MEMORY_COUNTERS counters{};
  // The K32 form is in kernel32, so that nothing more is linked.
  if (!K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters)) return 0;
  return counters.PeakWorkingSetSize;
}

}  // namespace glmhost::generation
