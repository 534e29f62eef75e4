#include <doctest/doctest.h>

#include <iostream>
#include <stdexcept>

#include "host/platform/signals.h"
#include "tests/unit/host/platform/temporary_folder.h"
#include "tests/unit/host/platform/windows/child_program.h"

using namespace glmhost::platform;
using namespace glmhost::test;

TEST_CASE("child: says what it was given" * doctest::skip()) {
  const auto arguments = utf8_arguments(0, nullptr);
  std::cout << arguments.back() << std::endl;
  std::cerr << "to-stderr" << std::endl;
  std::cout << (std::cin.get() == std::char_traits<char>::eof() ? "stdin is empty" : "stdin has something")
            << std::endl;
  std::cout << to_utf8(std::filesystem::current_path()) << std::endl;
}

TEST_CASE("child: waits to be killed" * doctest::skip()) {
  for (;;) Sleep(1000);
}

TEST_CASE("alive, killed, gone") {
  TemporaryFolder folder;
  const ChildProgram child("child: waits to be killed", "", folder.path() / "log");
  CHECK(process_is_alive(child.pid()));
  CHECK(!ask_process_to_stop(child.pid()));
  CHECK(kill_process(child.pid()));
  CHECK(eventually([&] { return !process_is_alive(child.pid()); }));
  CHECK(!kill_process(child.pid()));
}

TEST_CASE("a detached process: arguments as they are, output appended, the program's own folder, empty stdin") {
  TemporaryFolder folder;
  const auto log = folder.path() / "log";
  std::ofstream(log) << "before\n";
  const auto program = folder.path() / L"a b 数" / L"程序.exe";
  std::filesystem::create_directories(program.parent_path());
  std::filesystem::copy_file(executable_path(), program);
  for (const std::string last : {"a b\"c\\", "表 \\\\\"", "", "\\\\share\\x y\\"}) {
    const std::vector<std::string> arguments = {"--test-case=child: says what it was given", "--no-skip", "--minimal",
                                                last};
    const auto begin = text_of(log).size();
    spawn_detached(program, arguments, log);
    const std::string expected = last + "\nto-stderr\nstdin is empty\n" + to_utf8(program.parent_path()) + "\n";
    std::string written;
    CHECK(eventually([&] {
      written = text_of(log).substr(begin);
      std::erase(written, '\r');
      return written.starts_with(expected);
    }));
    INFO(written);
  }
  CHECK(text_of(log).starts_with("before"));
}

TEST_CASE("a program that cannot be started is an error with a sentence") {
  TemporaryFolder folder;
  CHECK_THROWS_WITH_AS(spawn_detached(folder.path() / "none.exe", {}, folder.path() / "log"),
                       doctest::Contains("Cannot start"), std::runtime_error);
  CHECK_THROWS_AS(spawn_detached(folder.path(), {}, folder.path() / "log"), std::runtime_error);
  CHECK_THROWS_WITH_AS(spawn_detached(executable_path(), {}, folder.path() / "no folder" / "log"),
                       doctest::Contains("Cannot open the log"), std::runtime_error);
}

TEST_CASE("one object for signals at a time") {
  const StopSignals first([] {});
  CHECK_THROWS_AS(StopSignals([] {}), std::logic_error);
}
