#include "host/platform/private_file.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/unit/host/platform/temporary_folder.h"

using namespace glmhost::platform;
using glmhost::test::TemporaryFolder;

namespace {

std::size_t files_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
}

}  // namespace

TEST_CASE("a private file comes back as it was written, and only its owner may read it") {
  TemporaryFolder folder;
  const auto file = folder.path() / "host.json";
  for (const std::string& bytes :
       {std::string("first"), std::string(), std::string("\0\n\xff", 3), std::string(1000, 'x')}) {
    write_private_file(file, bytes);
    CHECK(read_private_file(file, 1000) == bytes);
    struct stat status {};
    REQUIRE(stat(file.c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0600);
    CHECK(files_in(folder.path()) == 1);
  }
}

TEST_CASE("a failed write leaves the old file and nothing else") {
  TemporaryFolder folder;
  const auto file = folder.path() / "in the way";
  std::filesystem::create_directories(file / "full");  // rename() refuses to replace a folder that is not empty
  CHECK_THROWS_AS(write_private_file(file, "bytes"), std::runtime_error);
  CHECK(files_in(folder.path()) == 1);
  CHECK_THROWS_AS(write_private_file(folder.path() / "no such folder" / "file", "bytes"), std::runtime_error);
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

TEST_CASE("many writers at once: a reader always sees one whole file") {
  TemporaryFolder folder;
  const auto file = folder.path() / "file";
  write_private_file(file, std::string(5000, 'a'));
  std::vector<std::thread> writers;
  for (char letter = 'a'; letter < 'e'; ++letter) {
    writers.emplace_back([&file, letter] {
      for (int i = 0; i < 20; ++i) write_private_file(file, std::string(5000, letter));
    });
  }
  for (int i = 0; i < 200; ++i) {
    const auto bytes = read_private_file(file, 5000);
    REQUIRE(bytes);
    CHECK(*bytes == std::string(5000, bytes->front()));
  }
  for (auto& writer : writers) writer.join();
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("no file is no error") {
  TemporaryFolder folder;
  CHECK(!read_private_file(folder.path() / "none", 10));
  CHECK(!read_private_file(folder.path() / "no folder" / "none", 10));
}

TEST_CASE("files that are not to be trusted are refused") {
  TemporaryFolder folder;
  const auto file = folder.path() / "file";
  write_private_file(file, "0123456789");
  SUBCASE("too large") {
    CHECK_THROWS_WITH_AS(read_private_file(file, 9), doctest::Contains("larger than 9"), std::runtime_error);
  }
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
