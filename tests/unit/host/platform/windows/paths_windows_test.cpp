#include <doctest/doctest.h>

#include <stdexcept>

#include "host/platform/paths.h"
#include "host/platform/private_file.h"
#include "tests/unit/host/platform/temporary_folder.h"
#include "tests/unit/host/platform/windows/access_list.h"
#include "tests/unit/host/platform/windows/child_program.h"

using namespace glmhost::platform;
using namespace glmhost::test;

TEST_CASE("folders follow APPDATA and LOCALAPPDATA, else the profile") {
  const ScopedVariable no_home("GLM_HOST_HOME", "");
  const ScopedVariable roaming("APPDATA", "C:\\李\\Roaming");
  const ScopedVariable profile("USERPROFILE", "C:\\Users\\李");
  CHECK(config_folder() == L"C:\\李\\Roaming\\glm-host");
  {
    const ScopedVariable local("LOCALAPPDATA", "D:\\a b\\Local");
    CHECK(data_folder() == L"D:\\a b\\Local\\glm-host");
    CHECK(state_folder() == L"D:\\a b\\Local\\glm-host\\state");
    CHECK(runtime_folder() == L"D:\\a b\\Local\\glm-host\\run");
  }
  const ScopedVariable no_local("LOCALAPPDATA", "");
  CHECK(data_folder() == L"C:\\Users\\李\\AppData\\Local\\glm-host");
  const ScopedVariable no_profile("USERPROFILE", "");
  CHECK_THROWS_WITH_AS(data_folder(), doctest::Contains("GLM_HOST_HOME"), std::runtime_error);
}

TEST_CASE("GLM_HOST_HOME puts every folder below one") {
  const ScopedVariable home("GLM_HOST_HOME", "C:\\our model\\主");
  CHECK(config_folder() == L"C:\\our model\\主\\config");
  CHECK(data_folder() == L"C:\\our model\\主\\data");
  CHECK(state_folder() == L"C:\\our model\\主\\state");
  CHECK(runtime_folder() == L"C:\\our model\\主\\run");
}

TEST_CASE("paths are UTF-8, and text that is none is refused") {
  CHECK(path_from_utf8("C:\\表\\a b").native() == L"C:\\表\\a b");
  CHECK(to_utf8(std::filesystem::path(L"C:\\表\\a b")) == "C:\\表\\a b");
  CHECK_THROWS_AS(path_from_utf8("C:\\\xff\xfe"), std::exception);
}

TEST_CASE("make_private_folder makes missing parents and can be asked again") {
  TemporaryFolder folder;
  const auto made = folder.path() / "a b" / L"数" / "run";
  make_private_folder(made);
  CHECK(std::filesystem::is_directory(made));
  for (const auto& each : {made, made.parent_path(), made.parent_path().parent_path()}) {
    CHECK_FALSE(lets_in_everybody(each));
  }
  make_private_folder(made);
  make_private_folder(made / "");
  write_private_file(made / "inside", "x");
  CHECK(read_private_file(made / "inside", 10) == "x");
  CHECK_FALSE(lets_in_everybody(made / "inside"));
}

TEST_CASE("make_private_folder closes a folder that was open") {
  TemporaryFolder folder;
  const auto open = folder.path() / "open";
  std::filesystem::create_directory(open);
  open_to_everybody(open);
  REQUIRE(lets_in_everybody(open));
  make_private_folder(open);
  CHECK_FALSE(lets_in_everybody(open));
}

TEST_CASE("make_private_folder refuses what is in the way") {
  TemporaryFolder folder;
  const auto file = folder.path() / "file";
  std::ofstream(file) << "x";
  CHECK_THROWS_WITH_AS(make_private_folder(file), doctest::Contains("is in the way"), std::runtime_error);
  CHECK_THROWS_AS(make_private_folder(file / "below"), std::runtime_error);
  CHECK_THROWS_AS(make_private_folder("Q:\\no\\such\\drive"), std::runtime_error);
}
