// What `glm table` is at, on stderr when that is a terminal and the work takes longer than a person waits gladly.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace glmhost::cli {

class TableProgress {
 public:
  TableProgress();
  ~TableProgress();  // removes the line
  TableProgress(const TableProgress&) = delete;
  TableProgress& operator=(const TableProgress&) = delete;

  void at(std::string step);

 private:
  void show();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string step_;
  bool stop_ = false;
  std::thread thread_;  // none where stderr is no terminal
};

}  // namespace glmhost::cli
