#include "host/platform/private_file.h"

#include <doctest/doctest.h>

#include <fstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/unit/host/platform/temporary_folder.h"

using namespace glmhost::platform;
using glmhost::test::files_in;
using glmhost::test::TemporaryFolder;

TEST_CASE("a private file comes back as it was written") {
  TemporaryFolder folder;
  const auto file = folder.path() / "host.json";
  for (const std::string& bytes :
       {std::string("first"), std::string(), std::string("\0\n\xff", 3), std::string(1000, 'x')}) {
    write_private_file(file, bytes);
    CHECK(read_private_file(file, 1000) == bytes);
    CHECK(files_in(folder.path()) == 1);
  }
}

TEST_CASE("a failed write leaves the old file and nothing else") {
  TemporaryFolder folder;
  const auto file = folder.path() / "in the way";
  std::filesystem::create_directories(file / "full");  // the exchange refuses to replace a folder that is not empty
  CHECK_THROWS_AS(write_private_file(file, "bytes"), std::runtime_error);
  CHECK(files_in(folder.path()) == 1);
  CHECK_THROWS_AS(write_private_file(folder.path() / "no such folder" / "file", "bytes"), std::runtime_error);
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

TEST_CASE("a file that is too large and a folder are refused") {
  TemporaryFolder folder;
  const auto file = folder.path() / "file";
  write_private_file(file, "0123456789");
  CHECK(read_private_file(file, 10) == "0123456789");
  CHECK_THROWS_WITH_AS(read_private_file(file, 9), doctest::Contains("larger than 9"), std::runtime_error);
  CHECK_THROWS_AS(read_private_file(folder.path(), 100), std::runtime_error);
}
