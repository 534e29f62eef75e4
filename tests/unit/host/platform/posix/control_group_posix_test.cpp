#include <doctest/doctest.h>

#include <fstream>
#include <limits>

#include "host/platform/control_group.h"
#include "tests/unit/host/platform/temporary_folder.h"

using namespace glmhost::platform;
using glmhost::test::TemporaryFolder;

namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

void put(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

}  // namespace

TEST_CASE("no control group: no limit") {
  TemporaryFolder root;
  CHECK(control_group_memory(root.path()).limit == kNoLimit);
  put(root.path() / "proc/self/cgroup", "0::/a\n");
  put(root.path() / "sys/fs/cgroup/a/memory.max", "max\n");
  CHECK(control_group_memory(root.path()).limit == kNoLimit);
  CHECK(control_group_memory(root.path()).available == kNoLimit);
}

TEST_CASE("version 2: the tightest of a group and those above it, page cache not counted as used") {
  TemporaryFolder root;
  put(root.path() / "proc/self/cgroup", "0::/user.slice/glm.service\n");
  const auto top = root.path() / "sys/fs/cgroup";
  put(top / "user.slice/memory.max", "1000000\n");
  put(top / "user.slice/memory.current", "900000\n");
  put(top / "user.slice/memory.stat", "anon 100000\nfile 800000\ninactive_file 700000\n");
  put(top / "user.slice/glm.service/memory.max", "2000000\n");
  put(top / "user.slice/glm.service/memory.current", "1900000\n");
  put(top / "user.slice/glm.service/memory.stat", "anon 1900000\ninactive_file 0\n");
  CHECK(control_group_memory(root.path()).limit == 1'000'000);
  CHECK(control_group_memory(root.path()).available == 100'000);
}

TEST_CASE("version 2 in a container: the group's path is the host's, only the mounted root exists") {
  TemporaryFolder root;
  put(root.path() / "proc/self/cgroup", "0::/docker/0123\n");
  put(root.path() / "sys/fs/cgroup/memory.max", "5000\n");
  put(root.path() / "sys/fs/cgroup/memory.current", "6000\n");
  CHECK(control_group_memory(root.path()).limit == 5000);
  CHECK(control_group_memory(root.path()).available == 0);

  put(root.path() / "proc/self/cgroup", "0::/../../outside\n");
  CHECK(control_group_memory(root.path()).limit == 5000);
}

TEST_CASE("version 1: the hierarchy that has the memory controller") {
  TemporaryFolder root;
  put(root.path() / "proc/self/cgroup", "12:cpu,cpuacct:/other\n7:hugetlb,memory:/job\n1:name=systemd:/x\n");
  const auto group = root.path() / "sys/fs/cgroup/memory/job";
  put(group / "memory.limit_in_bytes", "3000\n");
  put(group / "memory.usage_in_bytes", "2500\n");
  put(group / "memory.stat", "inactive_file 1\ntotal_inactive_file 500\n");
  put(root.path() / "sys/fs/cgroup/memory/other/memory.limit_in_bytes", "1\n");
  CHECK(control_group_memory(root.path()).limit == 3000);
  CHECK(control_group_memory(root.path()).available == 1000);
}

TEST_CASE("nonsense is passed over") {
  TemporaryFolder root;
  put(root.path() / "proc/self/cgroup", "\n::\nx\n0::\n0::/a\n");
  put(root.path() / "sys/fs/cgroup/a/memory.max", "-5\n");
  put(root.path() / "sys/fs/cgroup/memory.max", "");
  CHECK(control_group_memory(root.path()).limit == kNoLimit);
}
