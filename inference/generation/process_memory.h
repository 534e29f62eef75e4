// What this process takes from the machine.
#pragma once

#include <cstdint>

namespace glmhost::generation {

// The most physical memory the process has held so far, in bytes; 0 where the system does not say.
std::uint64_t peak_memory_bytes();

}  // namespace glmhost::generation
