// One line on stderr that shows how far long work has come; nothing at all when stderr is no terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace glmhost::cli {

class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();  // removes the line
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Redrawn at most ten times a second. total 0: how much there is to do is not known.
  void bytes(std::string_view step, std::uint64_t done, std::uint64_t total);
  void fraction(std::string_view step, double done);  // 0..1
  void note(std::string_view text);
  void clear();

 private:
  void draw(const std::string& line);
  bool due(std::string_view step);

  bool shown_;
  std::string step_;
  std::chrono::steady_clock::time_point begin_, last_;
  std::uint64_t first_bytes_ = 0;  // there before this step began: a resumed download
  std::size_t width_ = 0;
};

// "glm-4-9b" 45 % as "[#########           ]"; exposed for tests.
std::string bar(double fraction, int cells);

}  // namespace glmhost::cli
