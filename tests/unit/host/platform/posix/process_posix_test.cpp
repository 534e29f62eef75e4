#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "host/platform/paths.h"
#include "host/platform/process.h"
#include "tests/unit/host/platform/temporary_folder.h"

using namespace glmhost::platform;
using glmhost::test::TemporaryFolder;

namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

bool eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace

TEST_CASE("alive, zombie, gone") {
  CHECK(process_is_alive(1));
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (;;) pause();
  }
  const auto pid = static_cast<std::uint32_t>(child);
  CHECK(process_is_alive(pid));
  CHECK(kill_process(pid));
  CHECK(eventually([&] { return !process_is_alive(pid); }));  // a zombie until it is waited for
  REQUIRE(waitpid(child, nullptr, 0) == child);
  CHECK(!process_is_alive(pid));
  CHECK(!kill_process(pid));
  CHECK(!ask_process_to_stop(pid));
}

TEST_CASE("a detached process: arguments, output, session, no descriptors of ours") {
  TemporaryFolder folder;
  const auto log = folder.path() / "log";
  const int leaked = open("/dev/null", O_RDONLY);  // without O_CLOEXEC, on purpose
  REQUIRE(leaked >= 0);
  const std::vector<std::string> arguments = {
      "-c", "echo \"[$1] [$2]\"; echo to-stderr >&2; pwd; ls -l /proc/self/fd | wc -l; cat; sleep 1000", "sh",
      "a b\"c\\", "表"};
  const std::uint32_t pid = spawn_detached("/bin/sh", arguments, log);
  CHECK(process_is_alive(pid));
  // "total 0", descriptors 0, 1, 2 and the one that ls itself reads the folder by
  CHECK(eventually([&] { return text_of(log) == "[a b\"c\\] [表]\nto-stderr\n/\n5\n"; }));
  INFO(text_of(log));
  CHECK(getsid(static_cast<pid_t>(pid)) != getsid(0));
  CHECK(getpgid(static_cast<pid_t>(pid)) != getpgid(0));
  CHECK((std::filesystem::status(log).permissions() & std::filesystem::perms::all) ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  CHECK(kill_process(pid));
  CHECK(eventually([&] { return !process_is_alive(pid); }));
  close(leaked);
}

TEST_CASE("a detached process starts with the signals as a program expects them") {
  TemporaryFolder folder;
  const auto log = folder.path() / "log";
  signal(SIGPIPE, SIG_IGN);
  const std::uint32_t pid =
      spawn_detached("/bin/sh", std::vector<std::string>{"-c", "grep SigIgn /proc/self/status"}, log);
  CHECK(pid != 0);
  CHECK(eventually([&] { return text_of(log) == "SigIgn:\t0000000000000000\n"; }));
  INFO(text_of(log));
  signal(SIGPIPE, SIG_DFL);
}

TEST_CASE("the log is appended to") {
  TemporaryFolder folder;
  const auto log = folder.path() / "log";
  std::ofstream(log) << "before\n";
  spawn_detached("/bin/echo", std::vector<std::string>{"after"}, log);
  CHECK(eventually([&] { return text_of(log) == "before\nafter\n"; }));
}

TEST_CASE("a program that cannot be started is an error with a sentence") {
  TemporaryFolder folder;
  const auto log = folder.path() / "log";
  CHECK_THROWS_WITH_AS(spawn_detached(folder.path() / "none", {}, log), doctest::Contains("Cannot start"),
                       std::runtime_error);
  CHECK_THROWS_AS(spawn_detached(folder.path(), {}, log), std::runtime_error);
  const auto script = folder.path() / "not executable";
  std::ofstream(script) << "#!/bin/sh\n";
  CHECK_THROWS_AS(spawn_detached(script, {}, log), std::runtime_error);
  CHECK_THROWS_WITH_AS(spawn_detached("/bin/true", {}, folder.path() / "no folder" / "log"),
                       doctest::Contains("Cannot open the log"), std::runtime_error);
}

TEST_CASE("a program is started from a folder with spaces and CJK") {
  TemporaryFolder folder;
  const auto program = folder.path() / "a b 数" / "程序";
  std::filesystem::create_directories(program.parent_path());
  std::filesystem::copy_file("/bin/echo", program);
  spawn_detached(program, std::vector<std::string>{"yes"}, folder.path() / "log");
  CHECK(eventually([&] { return text_of(folder.path() / "log") == "yes\n"; }));
}
