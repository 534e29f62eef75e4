#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>

#include "host/platform/file_lock.h"
#include "host/platform/process.h"
#include "tests/unit/host/platform/temporary_folder.h"

using namespace glmhost::platform;
using glmhost::test::TemporaryFolder;

TEST_CASE("a lock dies with its process, also by kill -9, and names it while it lives") {
  TemporaryFolder folder;
  const auto file = folder.path() / "lock";
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const auto lock = FileLock::try_acquire(file);
    const char held = lock ? 'y' : 'n';
    if (write(ends[1], &held, 1) != 1) _exit(1);
    for (;;) pause();
  }
  char held = 0;
  REQUIRE(read(ends[0], &held, 1) == 1);
  CHECK(held == 'y');
  CHECK(!FileLock::try_acquire(file));
  CHECK(FileLock::holder(file) == static_cast<std::uint32_t>(child));

  REQUIRE(kill(child, SIGKILL) == 0);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  CHECK(!FileLock::holder(file));
  CHECK(FileLock::try_acquire(file));
  close(ends[0]);
  close(ends[1]);
}

TEST_CASE("asking for the holder never makes an attempt to lock fail") {
  TemporaryFolder folder;
  const auto file = folder.path() / "lock";
  std::ofstream(file) << "";
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (;;) FileLock::holder(file);
  }
  for (int i = 0; i < 2000; ++i) REQUIRE(FileLock::try_acquire(file));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST_CASE("a lock is not made behind a symbolic link") {
  TemporaryFolder folder;
  std::filesystem::create_symlink(folder.path() / "elsewhere", folder.path() / "link");
  CHECK_THROWS_AS(FileLock::try_acquire(folder.path() / "link"), std::runtime_error);
}
