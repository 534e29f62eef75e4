#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "host/platform/control_group.h"

namespace glmhost::platform {
namespace {

std::optional<std::uint64_t> read_number(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string text;
  std::uint64_t number = 0;
  if (!(stream >> text)) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;  // "max"
  return number;
}

// "name number" lines, as in memory.stat.
std::uint64_t read_field(const std::filesystem::path& file, const std::string& field) {
  std::ifstream stream(file);
  std::string name;
  std::uint64_t number = 0;
  while (stream >> name >> number) {
    if (name == field) return number;
  }
  return 0;
}

struct Version {
  std::filesystem::path mount;
  const char* limit;
  const char* usage;
  const char* reclaimable;  // page cache of files counts as used but is given back under pressure
};

void tighten(ControlGroupMemory& memory, const Version& version, const std::filesystem::path& group) {
  const auto limit = read_number(group / version.limit);
  if (!limit) return;
  memory.limit = std::min(memory.limit, *limit);
  const std::uint64_t usage = read_number(group / version.usage).value_or(0);
  const std::uint64_t cache = read_field(group / "memory.stat", version.reclaimable);
  const std::uint64_t held = usage > cache ? usage - cache : 0;
  memory.available = std::min(memory.available, *limit > held ? *limit - held : 0);
}

void tighten_up_to_root(ControlGroupMemory& memory, const Version& version, const std::string& group) {
  // The path can point outside what is mounted here ("/../x", or the host's path inside a container): then only the
  // groups that exist count, the mounted root among them.
  std::filesystem::path below = std::filesystem::path(group).lexically_normal().relative_path();
  while (!below.empty()) {
    tighten(memory, version, version.mount / below);
    below = below.parent_path();
  }
  tighten(memory, version, version.mount);
}

}  // namespace

ControlGroupMemory control_group_memory(const std::filesystem::path& root) {
  const Version second{root / "sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};
  const Version first{root / "sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                      "total_inactive_file"};
  ControlGroupMemory memory;
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // hierarchy:controllers:path
    const auto controllers = line.find(':');
    if (controllers == std::string::npos) continue;
    const auto path = line.find(':', controllers + 1);
    if (path == std::string::npos) continue;
    const std::string group = line.substr(path + 1);
    std::istringstream names(line.substr(controllers + 1, path - controllers - 1));
    if (names.str().empty()) tighten_up_to_root(memory, second, group);
    for (std::string name; std::getline(names, name, ',');) {
      if (name == "memory") tighten_up_to_root(memory, first, group);
    }
  }
  return memory;
}

}  // namespace glmhost::platform
