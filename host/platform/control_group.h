// Memory limits of the control groups (cgroup v2 or v1) this process is in: in a container or a systemd unit with
// MemoryMax, the machine's own figures promise memory that cannot be had.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>

namespace glmhost::platform {

// Bytes; the maximum of the type where nothing limits.
struct ControlGroupMemory {
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t available = std::numeric_limits<std::uint64_t>::max();  // limit less what is in use and not reclaimable
};

// `root` is "/" but in tests. The tightest of the group and all groups above it counts.
ControlGroupMemory control_group_memory(const std::filesystem::path& root);

}  // namespace glmhost::platform
