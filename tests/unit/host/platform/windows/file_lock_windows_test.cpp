#include <doctest/doctest.h>

#include "host/platform/file_lock.h"
#include "tests/unit/host/platform/temporary_folder.h"
#include "tests/unit/host/platform/windows/child_program.h"

using namespace glmhost::platform;
using namespace glmhost::test;

TEST_CASE("child: holds a lock until it is killed" * doctest::skip()) {
  const auto lock = FileLock::try_acquire(file_to_work_on());
  REQUIRE(lock);
  for (;;) Sleep(1000);
}

TEST_CASE("child: asks for the holder again and again" * doctest::skip()) {
  for (;;) FileLock::holder(file_to_work_on());
}

TEST_CASE("a lock dies with its process, also when that is killed, and names it while it lives") {
  TemporaryFolder folder;
  const auto file = folder.path() / L"a b 数" / "lock";
  std::filesystem::create_directory(file.parent_path());
  const ChildProgram child("child: holds a lock until it is killed", file, folder.path() / "log");
  REQUIRE(eventually([&] { return FileLock::holder(file) == child.pid(); }));
  CHECK(!FileLock::try_acquire(file));

  REQUIRE(kill_process(child.pid()));
  CHECK(eventually([&] { return !FileLock::holder(file); }));
  CHECK(FileLock::try_acquire(file));
}

TEST_CASE("asking for the holder does not make an attempt to lock fail") {
  TemporaryFolder folder;
  const auto file = folder.path() / "lock";
  std::ofstream(file) << "";
  const ChildProgram child("child: asks for the holder again and again", file, folder.path() / "log");
  REQUIRE(process_is_alive(child.pid()));
  for (int i = 0; i < 300; ++i) REQUIRE(FileLock::try_acquire(file));
  CHECK(process_is_alive(child.pid()));
}
