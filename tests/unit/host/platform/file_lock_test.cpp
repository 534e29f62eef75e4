#include "host/platform/file_lock.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>

#include "host/platform/process.h"
#include "tests/unit/host/platform/temporary_folder.h"

using namespace glmhost::platform;
using glmhost::test::TemporaryFolder;

TEST_CASE("a lock excludes others until it is released") {
  TemporaryFolder folder;
  const auto file = folder.path() / "lock";
  CHECK(!FileLock::holder(file));
  {
    auto lock = FileLock::try_acquire(file);
    REQUIRE(lock);
    CHECK(FileLock::holder(file) == process_id());
    CHECK(!FileLock::try_acquire(file));

    FileLock moved = std::move(*lock);
    lock.reset();
    CHECK(FileLock::holder(file) == process_id());
    CHECK(!FileLock::try_acquire(file));
  }
  CHECK(!FileLock::holder(file));
  CHECK(std::filesystem::exists(file));
  CHECK(FileLock::try_acquire(file));
}

TEST_CASE("assigning a lock releases the earlier one") {
  TemporaryFolder folder;
  auto first = FileLock::try_acquire(folder.path() / "first");
  auto second = FileLock::try_acquire(folder.path() / "second");
  REQUIRE(first);
  REQUIRE(second);
  *first = std::move(*second);
  CHECK(!FileLock::holder(folder.path() / "first"));
  CHECK(FileLock::holder(folder.path() / "second") == process_id());
}

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

TEST_CASE("a stale file with nonsense in it is no obstacle") {
  TemporaryFolder folder;
  const auto file = folder.path() / "lock";
  std::ofstream(file) << "99999999999999999999 what is this\n";
  CHECK(!FileLock::holder(file));
  auto lock = FileLock::try_acquire(file);
  REQUIRE(lock);
  CHECK(FileLock::holder(file) == process_id());
  std::ifstream stream(file);
  std::string text;
  std::getline(stream, text);
  CHECK(text == std::to_string(process_id()));
}

TEST_CASE("a lock that cannot be made is an error with a sentence") {
  TemporaryFolder folder;
  CHECK_THROWS_WITH_AS(FileLock::try_acquire(folder.path() / "no folder" / "lock"), doctest::Contains("Cannot lock"),
                       std::runtime_error);
  CHECK_THROWS_AS(FileLock::try_acquire(folder.path()), std::runtime_error);
  std::filesystem::create_symlink(folder.path() / "elsewhere", folder.path() / "link");
  CHECK_THROWS_AS(FileLock::try_acquire(folder.path() / "link"), std::runtime_error);
}
