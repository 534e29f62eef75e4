// A folder for one test, gone afterwards. Its name has a space and CJK characters, as a user's home may have.
#pragma once

#include <atomic>
#include <filesystem>
#include <random>
#include <string>

namespace glmhost::daemon {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    static std::atomic<int> count{0};
    const std::string name = "glm 测试 " + std::to_string(std::random_device{}()) + "-" + std::to_string(count++);
    path_ = std::filesystem::temp_directory_path() / std::filesystem::path(std::u8string(name.begin(), name.end()));
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace glmhost::daemon
