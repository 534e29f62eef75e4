// A fixed set of threads that run one loop at a time together with the caller.
//
// A loop's chunks are handed out from one counter, so a thread that lost its core delays one chunk, not the loop.
// Workers spin briefly after a loop and then sleep on a futex: an idle pool uses no CPU. A worker that another program
// keeps from its core in the middle of a chunk stays out for a while, so that a busy machine costs little more than
// that worker's help.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace glmhost::kernels {

class ThreadPool {
 public:
  explicit ThreadPool(int threads);  // including the caller's; at least 1
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const;

  // Calls body(begin, end, thread) for pieces of [0, count) of at most `grain` until all are done, on the caller's
  // thread and the workers; returns when every piece is finished. `thread` is in [0, size()). body must not throw.
  // Only one thread may be in for_range at a time. count <= grain runs on the caller alone, without waking anybody.
  void for_range(std::int64_t count, std::int64_t grain,
                 const std::function<void(std::int64_t begin, std::int64_t end, int thread)>& body);

  // Working memory for the bodies of one loop: each thread's own, and one piece for all together. reserve_scratch is
  // called between loops (it may move the memory and throws Error(out_of_memory)); contents do not outlive a loop.
  void reserve_scratch(std::size_t bytes_per_thread, std::size_t shared_bytes = 0);
  std::byte* scratch(int thread) const;  // 64-byte aligned
  std::byte* shared_scratch() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace glmhost::kernels
