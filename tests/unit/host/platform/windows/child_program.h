// This test program once more, as another process: it runs one test case that is skipped otherwise and reads from
// GLM_TEST_FILE what it works on.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "host/platform/environment.h"
#include "host/platform/paths.h"
#include "host/platform/process.h"
#include "host/platform/windows_api.h"

namespace glmhost::test {

// An environment variable as Windows keeps it; taken back at the end.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value)
      : name_(platform::to_wide(name)), before_(platform::environment_variable(name)) {
    SetEnvironmentVariableW(name_.c_str(), platform::to_wide(value).c_str());
  }
  ~ScopedVariable() { SetEnvironmentVariableW(name_.c_str(), before_ ? platform::to_wide(*before_).c_str() : nullptr); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  std::wstring name_;
  std::optional<std::string> before_;
};

// Killed at the end, should it still run.
class ChildProgram {
 public:
  ChildProgram(const char* test_case, const std::filesystem::path& file, const std::filesystem::path& log) {
    const ScopedVariable names_file("GLM_TEST_FILE", platform::to_utf8(file));
    const std::vector<std::string> arguments = {std::string("--test-case=") + test_case, "--no-skip", "--minimal"};
    pid_ = platform::spawn_detached(platform::executable_path(), arguments, log);
  }
  ~ChildProgram() { platform::kill_process(pid_); }
  ChildProgram(const ChildProgram&) = delete;
  ChildProgram& operator=(const ChildProgram&) = delete;

  std::uint32_t pid() const { return pid_; }

 private:
  std::uint32_t pid_ = 0;
};

// In the child.
inline std::filesystem::path file_to_work_on() {
  return platform::path_from_utf8(platform::environment_variable("GLM_TEST_FILE").value());
}

inline std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

template <class Condition>
bool eventually(const Condition& condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace glmhost::test
