#include "host/daemon/log.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tests/unit/host/daemon/temporary_folder.h"

namespace glmhost::daemon {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_CASE("lines have their level, and one call is one line") {
  const TemporaryFolder folder;
  {
    Log log({.folder = folder.path() / "state", .level = settings::LogLevel::info});
    CHECK(log.problem().empty());
    log.error("first");
    log.warning("evil\nclient\x1b[31m\r\x7f");
    log.info("braces {} {0} %s");
    log.debug("not written");
    CHECK_FALSE(log.writes_debug());
  }
  const std::string text = read_file(folder.path() / "state" / "daemon.log");
  CHECK(std::count(text.begin(), text.end(), '\n') == 3);
  CHECK(text.find("error: first") != std::string::npos);
  CHECK(text.find("warning: evil client [31m") != std::string::npos);
  CHECK(text.find("info: braces {} {0} %s") != std::string::npos);
  CHECK(text.find("not written") == std::string::npos);
}

TEST_CASE("files rotate, and so many are kept") {
  const TemporaryFolder folder;
  {
    Log log({.folder = folder.path(), .file_bytes = 2000, .files = 3});
    for (int i = 0; i < 400; ++i) log.info("line " + std::to_string(i));
  }
  int files = 0;
  std::string newest;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    ++files;
    CHECK(entry.file_size() <= 2000);
#ifndef _WIN32
    CHECK((entry.status().permissions() & (fs::perms::group_all | fs::perms::others_all)) == fs::perms::none);
#endif
  }
  CHECK(files == 3);
  CHECK(read_file(folder.path() / "daemon.log").find("line 399") != std::string::npos);
  // The next process goes on in the same file.
  const auto before = fs::file_size(folder.path() / "daemon.log");
  Log log({.folder = folder.path(), .file_bytes = 2000, .files = 3});
  log.info("again");
  CHECK(fs::file_size(folder.path() / "daemon.log") != before);
}

TEST_CASE("without a place for the file there is a sentence, and no failure") {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "state") << "a file";
  Log log({.folder = folder.path() / "state", .level = settings::LogLevel::error});
  CHECK(log.problem().find("stderr") != std::string::npos);
  log.info("goes nowhere");
}

}  // namespace
}  // namespace glmhost::daemon
