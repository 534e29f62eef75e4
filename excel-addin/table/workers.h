// A few threads that share work cut into numbered tasks. What a task does may not depend on which thread runs it, nor
// on how many there are: so that an answer is the same on one thread and on many.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace glmhost::table {

// How much memory the process may take. `used` says how much it takes now; it may be called by any of the threads.
struct MemoryLimit {
  std::uint64_t most_bytes = 0;
  std::function<std::uint64_t()> used;
};

class Workers {
 public:
  // `threads` counts the caller's. `cancel`, when set, ends the work between two tasks with Cancelled.
  explicit Workers(unsigned threads, const std::atomic<bool>* cancel = nullptr);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  unsigned threads() const { return static_cast<unsigned>(helpers_.size()) + 1; }

  // Runs task(0) ... task(count - 1) and returns when all are done; throws what the first failing one threw. Not from
  // inside of a task.
  void run(std::size_t count, const std::function<void(std::size_t)>& task);

  // run() over the rows in blocks of kBlockRows.
  static constexpr std::size_t kBlockRows = 16384;
  void for_blocks(std::size_t rows, const std::function<void(std::size_t begin, std::size_t end)>& task);

  // Throws Cancelled, or TableError with the numbers when there is a limit and the process takes more: it is looked at
  // every few milliseconds.
  void check_cancelled() const;

  // Before there are other threads that work.
  void set_memory_limit(MemoryLimit limit) { memory_ = std::move(limit); }
  // Throws TableError when so much more would be beyond the limit; `what` begins the sentence: "This join would take".
  void require_memory(double further_bytes, const std::string& what) const;

 private:
  void help();
  void work();

  std::vector<std::thread> helpers_;
  const std::atomic<bool>* cancel_;
  MemoryLimit memory_;
  mutable std::atomic<std::int64_t> memory_seen_ = 0;  // when, in the clock's own unit
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::uint64_t round_ = 0;
  std::size_t busy_ = 0;
  bool stop_ = false;
  const std::function<void(std::size_t)>* task_ = nullptr;
  std::size_t count_ = 0;
  std::atomic<std::size_t> next_ = 0;
  std::exception_ptr failure_;
};

}  // namespace glmhost::table
