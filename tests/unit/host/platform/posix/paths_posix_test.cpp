#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>

#include "host/platform/paths.h"
#include "tests/unit/host/platform/posix/scoped_environment.h"
#include "tests/unit/host/platform/temporary_folder.h"

using namespace glmhost;
using namespace glmhost::platform;
using test::ScopedEnvironment;
using test::TemporaryFolder;

namespace {

mode_t mode_of(const std::filesystem::path& path) {
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

}  // namespace

TEST_CASE("GLM_HOST_HOME puts every folder below one") {
  ScopedEnvironment environment;
  environment.set("GLM_HOST_HOME", "/srv/our model/主");
  environment.set("XDG_CONFIG_HOME", "/elsewhere");
  CHECK(config_folder() == "/srv/our model/主/config");
  CHECK(data_folder() == "/srv/our model/主/data");
  CHECK(state_folder() == "/srv/our model/主/state");
  CHECK(runtime_folder() == "/srv/our model/主/run");
}

TEST_CASE("a relative GLM_HOST_HOME means the same place for a daemon with another working folder") {
  ScopedEnvironment environment;
  environment.set("GLM_HOST_HOME", "here/../there");
  CHECK(data_folder() == std::filesystem::current_path() / "there/data");
}

TEST_CASE("XDG variables, and the home folder without them") {
  ScopedEnvironment environment;
  TemporaryFolder run;
  environment.set("GLM_HOST_HOME", nullptr);
  environment.set("HOME", "/home/li");
  environment.set("XDG_CONFIG_HOME", "/c");
  environment.set("XDG_DATA_HOME", "/d");
  environment.set("XDG_STATE_HOME", "/s");
  environment.set("XDG_RUNTIME_DIR", run.path().c_str());
  CHECK(config_folder() == "/c/glm-host");
  CHECK(data_folder() == "/d/glm-host");
  CHECK(state_folder() == "/s/glm-host");
  CHECK(runtime_folder() == run.path() / "glm-host");
}

TEST_CASE("XDG variables that do not count") {
  ScopedEnvironment environment;
  environment.set("GLM_HOST_HOME", nullptr);
  environment.set("HOME", "/home/li");
  for (const char* value : {static_cast<const char*>(nullptr), "", "not/absolute"}) {
    environment.set("XDG_CONFIG_HOME", value);
    environment.set("XDG_DATA_HOME", value);
    environment.set("XDG_STATE_HOME", value);
    CHECK(config_folder() == "/home/li/.config/glm-host");
    CHECK(data_folder() == "/home/li/.local/share/glm-host");
    CHECK(state_folder() == "/home/li/.local/state/glm-host");
  }
  SUBCASE("a runtime folder that does not exist") {
    environment.set("XDG_RUNTIME_DIR", "/nowhere/at/all");
  }
  SUBCASE("a runtime folder of another user") {
    if (geteuid() == 0) {
      TemporaryFolder other;
      REQUIRE(chown(other.path().c_str(), 65534, 65534) == 0);
      environment.set("XDG_RUNTIME_DIR", other.path().c_str());
      CHECK(runtime_folder() == "/home/li/.local/state/glm-host/run");
    }
    environment.set("XDG_RUNTIME_DIR", "relative");
  }
  CHECK(runtime_folder() == "/home/li/.local/state/glm-host/run");
}

TEST_CASE("without HOME the user database knows the home folder") {
  ScopedEnvironment environment;
  environment.set("GLM_HOST_HOME", nullptr);
  environment.set("XDG_CONFIG_HOME", nullptr);
  for (const char* value : {static_cast<const char*>(nullptr), "", "relative"}) {
    environment.set("HOME", value);
    CHECK(config_folder().is_absolute());
    CHECK(config_folder().filename() == "glm-host");
  }
}

TEST_CASE("a runtime folder that is too long for a socket's address gets a short stand-in") {
  ScopedEnvironment environment;
  const std::string longest = "/" + std::string(kMaxRuntimeFolderBytes - 5, 'x');
  environment.set("GLM_HOST_HOME", longest.c_str());
  CHECK(runtime_folder() == longest + "/run");

  environment.set("GLM_HOST_HOME", (longest + "y").c_str());
  const auto first = runtime_folder();
  CHECK(first.parent_path() == "/tmp");
  CHECK(first.native().size() <= kMaxRuntimeFolderBytes);
  CHECK(first == runtime_folder());

  environment.set("GLM_HOST_HOME", (longest + "z").c_str());
  CHECK(runtime_folder() != first);

  std::string deep = "/home";
  for (int i = 0; i < 12; ++i) deep += "/数据表格";
  environment.set("GLM_HOST_HOME", deep.c_str());
  CHECK(runtime_folder().native().size() <= kMaxRuntimeFolderBytes);
  CHECK(data_folder() == deep + "/data");
}

TEST_CASE("paths are UTF-8, and bytes that are none pass through") {
  CHECK(to_utf8(path_from_utf8("/表/a b")) == "/表/a b");
  CHECK(to_utf8(path_from_utf8("/\xff\xfe")) == "/\xff\xfe");
}

TEST_CASE("make_private_folder makes missing parents, for this user alone") {
  TemporaryFolder folder;
  const auto made = folder.path() / "a b" / "数" / "run";
  make_private_folder(made);
  CHECK(mode_of(made) == 0700);
  CHECK(mode_of(folder.path() / "a b") == 0700);
  make_private_folder(made);
  make_private_folder(made.string() + "/");
  CHECK(mode_of(made) == 0700);
}

TEST_CASE("make_private_folder closes a folder that was open") {
  TemporaryFolder folder;
  const auto open = folder.path() / "open";
  std::filesystem::create_directory(open);
  REQUIRE(chmod(open.c_str(), 0777) == 0);
  make_private_folder(open);
  CHECK(mode_of(open) == 0700);
}

TEST_CASE("make_private_folder refuses what is in the way") {
  TemporaryFolder folder;
  const auto file = folder.path() / "file";
  std::ofstream(file) << "x";
  CHECK_THROWS_AS(make_private_folder(file), std::runtime_error);
  CHECK_THROWS_AS(make_private_folder(file / "below"), std::runtime_error);
  std::filesystem::create_symlink(folder.path() / "nothing", folder.path() / "dangling");
  CHECK_THROWS_AS(make_private_folder(folder.path() / "dangling"), std::runtime_error);
  CHECK_THROWS_AS(make_private_folder("/proc/no/such/place"), std::runtime_error);
}

TEST_CASE("make_private_folder follows a link of our own") {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "big disk");
  std::filesystem::create_symlink(folder.path() / "big disk", folder.path() / "link");
  make_private_folder(folder.path() / "link");
  CHECK(mode_of(folder.path() / "big disk") == 0700);
}

TEST_CASE("make_private_folder refuses a folder or link of another user") {
  if (geteuid() != 0) {
    MESSAGE("skipped: only root can give a folder to another user");
    return;
  }
  TemporaryFolder folder;
  const auto squatted = folder.path() / "squatted";
  std::filesystem::create_directory(squatted);
  REQUIRE(chown(squatted.c_str(), 65534, 65534) == 0);
  CHECK_THROWS_WITH_AS(make_private_folder(squatted), doctest::Contains("belongs to another user"), std::runtime_error);

  std::filesystem::create_directory(folder.path() / "ours");
  const auto link = folder.path() / "link";
  std::filesystem::create_symlink(folder.path() / "ours", link);
  REQUIRE(lchown(link.c_str(), 65534, 65534) == 0);
  CHECK_THROWS_WITH_AS(make_private_folder(link), doctest::Contains("belongs to another user"), std::runtime_error);

  std::filesystem::create_symlink(squatted, folder.path() / "own link");
  CHECK_THROWS_WITH_AS(make_private_folder(folder.path() / "own link"), doctest::Contains("belongs to another user"),
                       std::runtime_error);
}
