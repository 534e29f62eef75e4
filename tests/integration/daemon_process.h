// The daemon as a process of its own, which can be killed: this test program started again with --serve.
#pragma once

#ifndef _WIN32

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "host/platform/paths.h"
#include "host/platform/process.h"
#include "host/protocol/client.h"

namespace glmhost::integration {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

inline constexpr std::chrono::minutes kPatience{5};

// The default model where GLM_TEST_MODELS names its folder, else a tiny one with random weights.
struct TestModel {
  fs::path file;
  bool real = false;
};

inline TestModel test_model() {
  if (const char* folder = std::getenv("GLM_TEST_MODELS")) {
    const fs::path file = fs::path(folder) / "SmolLM2-135M-Instruct.Q4_1.gguf";
    if (fs::exists(file)) return {file, true};
  }
  for (const char* folder : {GLMHOST_TEST_DATA "/models", GLMHOST_SHARED_DATA "/vectors/models"}) {
    const fs::path file = fs::path(folder) / "llama-a.gguf";
    if (fs::exists(file)) return {file, false};
  }
  FAIL("no model in tests/data/models");
  return {};
}

class DaemonProcess {
 public:
  // GLM_HOST_... without the prefix
  explicit DaemonProcess(std::initializer_list<std::pair<std::string, std::string>> settings = {})
      : settings_(settings) {
    home_ = fs::temp_directory_path() / ("glm-daemon-" + std::to_string(std::random_device{}()));
    fs::create_directories(home_);
    settings_.emplace_back("HOME", home_.string());
    settings_.emplace_back("DEFAULT_MODEL", test_model().file.string());
  }
  ~DaemonProcess() {
    if (pid_ > 0) kill_now();
    std::error_code ignored;
    fs::remove_all(home_, ignored);
  }
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;

  // Returns when clients can connect.
  void start() {
    const std::string program = platform::executable_path().string();
    pid_ = fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      for (const auto& [name, value] : settings_) setenv(("GLM_HOST_" + name).c_str(), value.c_str(), 1);
      execl(program.c_str(), program.c_str(), "--serve", static_cast<char*>(nullptr));
      _exit(127);
    }
    for (const auto end = Clock::now() + kPatience; Clock::now() < end;) {
      const auto endpoint = protocol::read_endpoint(runtime());
      if (endpoint && endpoint->pid == static_cast<std::uint32_t>(pid_)) return;
      int status = 0;
      if (waitpid(pid_, &status, WNOHANG) == pid_) FAIL("the daemon ended at its start with status " << status);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    FAIL("the daemon did not come up");
  }
  void kill_now() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  // Asked by SIGTERM; returns its exit code.
  int terminate() {
    kill(pid_, SIGTERM);
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  pid_t pid() const { return pid_; }
  const fs::path& home() const { return home_; }
  fs::path runtime() const { return home_ / "run"; }

  std::unique_ptr<protocol::Client> client() const {
    protocol::ClientOptions options;
    options.program = "integration test";
    options.runtime_folder = runtime();
    return std::make_unique<protocol::Client>(options);
  }

  // From /proc, in kilobytes: VmHWM is the most it has had, VmRSS what it has.
  std::uint64_t memory_kb(const std::string& field) const {
    std::ifstream in("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with(field + ":")) return std::stoull(line.substr(field.size() + 1));
    }
    return 0;
  }
  // Processor time so far, in clock ticks.
  std::uint64_t cpu_ticks() const {
    std::ifstream in("/proc/" + std::to_string(pid_) + "/stat");
    std::string text((std::istreambuf_iterator<char>(in)), {});
    std::istringstream fields(text.substr(text.rfind(')') + 2));
    std::string skipped;
    for (int i = 0; i < 11; ++i) fields >> skipped;
    std::uint64_t user = 0, system = 0;
    fields >> user >> system;
    return user + system;
  }

 private:
  std::vector<std::pair<std::string, std::string>> settings_;
  fs::path home_;
  pid_t pid_ = -1;
};

inline protocol::Request raw(const std::string& prompt, std::int32_t max_tokens) {
  protocol::Request request;
  request.prompt = prompt;
  request.max_tokens = max_tokens;
  return request;
}

}  // namespace glmhost::integration

#endif
