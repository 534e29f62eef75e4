#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>

#include "host/platform/private_file.h"
#include "tests/unit/host/platform/temporary_folder.h"

using namespace glmhost::platform;
using glmhost::test::files_in;
using glmhost::test::TemporaryFolder;

TEST_CASE("only the owner may read a private file") {
  TemporaryFolder folder;
  const auto file = folder.path() / "host.json";
  for (const char* bytes : {"first", "second"}) {
    write_private_file(file, bytes);
    struct stat status {};
    REQUIRE(stat(file.c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0600);
  }
}

TEST_CASE("a write that fails in the middle, as on a full disk, leaves the old file and no half one") {
  TemporaryFolder folder;
  const auto file = folder.path() / "file";
  write_private_file(file, "old");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 100;
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  std::string sentence;
  try {
    write_private_file(file, std::string(1000, 'x'));
  } catch (const std::runtime_error& error) {
    sentence = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, SIG_DFL);
  CHECK(sentence.starts_with("Cannot write " + file.string() + ": "));
  CHECK(read_private_file(file, 100) == "old");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("files that are not to be trusted are refused") {
  TemporaryFolder folder;
  const auto file = folder.path() / "file";
  write_private_file(file, "0123456789");
  SUBCASE("readable by others") {
    REQUIRE(chmod(file.c_str(), 0644) == 0);
    CHECK_THROWS_WITH_AS(read_private_file(file, 100), doctest::Contains("open to other users"), std::runtime_error);
  }
  SUBCASE("writable by the group") {
    REQUIRE(chmod(file.c_str(), 0620) == 0);
    CHECK_THROWS_AS(read_private_file(file, 100), std::runtime_error);
  }
  SUBCASE("a symbolic link") {
    std::filesystem::create_symlink(file, folder.path() / "link");
    CHECK_THROWS_WITH_AS(read_private_file(folder.path() / "link", 100), doctest::Contains("symbolic link"),
                         std::runtime_error);
  }
  SUBCASE("a folder") {
    CHECK_THROWS_WITH_AS(read_private_file(folder.path(), 100), doctest::Contains("not a regular file"),
                         std::runtime_error);
  }
  SUBCASE("a pipe, without waiting for a writer") {
    const auto pipe = folder.path() / "pipe";
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    CHECK_THROWS_WITH_AS(read_private_file(pipe, 100), doctest::Contains("not a regular file"), std::runtime_error);
  }
  SUBCASE("of another user") {
    if (geteuid() == 0) {
      REQUIRE(chown(file.c_str(), 65534, 65534) == 0);
      CHECK_THROWS_WITH_AS(read_private_file(file, 100), doctest::Contains("belongs to another user"),
                           std::runtime_error);
    } else {
      MESSAGE("skipped: only root can give a file to another user");
    }
  }
}
