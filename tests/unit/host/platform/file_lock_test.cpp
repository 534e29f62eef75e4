#include "host/platform/file_lock.h"

#include <doctest/doctest.h>

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
}
