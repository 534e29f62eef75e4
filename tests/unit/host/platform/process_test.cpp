#include "host/platform/process.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <vector>

using namespace glmhost::platform;

TEST_CASE("this process is alive, and ids that nobody has are not") {
  CHECK(process_is_alive(process_id()));
  CHECK(!process_is_alive(0));
  CHECK(!process_is_alive(0xFFFFFFFFu));
  CHECK(!process_is_alive(0x80000000u));
  CHECK(!kill_process(0));
  CHECK(!kill_process(0xFFFFFFFFu));
  CHECK(!ask_process_to_stop(0xFFFFFFFFu));
}

TEST_CASE("the path of this program") {
  CHECK(executable_path().is_absolute());
  CHECK(executable_path().stem() == "platform_test");
  CHECK(std::filesystem::exists(executable_path()));
}

TEST_CASE("memory") {
  const std::uint64_t before = resident_memory();
  CHECK(before > 500'000);
  std::vector<char> block(64u << 20, 'x');
  CHECK(resident_memory() > before + (48u << 20));
  CHECK(peak_resident_memory() >= resident_memory() - (1u << 20));
  CHECK(peak_resident_memory() > before + (48u << 20));
  CHECK(total_memory() > block.size());
  CHECK(available_memory() > 0);
  CHECK(available_memory() <= total_memory());
}
