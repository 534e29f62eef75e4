#include "excel-addin/table/workers.h"

#include <algorithm>
#include <utility>

#include "excel-addin/table/table_error.h"

namespace glmhost::table {

Workers::Workers(unsigned threads, const std::atomic<bool>* cancel) : cancel_(cancel) {
  for (unsigned i = 1; i < threads; ++i) helpers_.emplace_back([this] { help(); });
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void Workers::check_cancelled() const {
  if (cancel_ != nullptr && cancel_->load(std::memory_order_relaxed)) throw Cancelled();
}

void Workers::work() {
  while (true) {
    const std::size_t index = next_.fetch_add(1);
    if (index >= count_) return;
    try {
      check_cancelled();
      (*task_)(index);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      next_ = count_;
    }
  }
}

void Workers::help() {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return stop_ || round_ != seen; });
    if (stop_) return;
    seen = round_;
    lock.unlock();
    work();
    lock.lock();
    if (--busy_ == 0) done_.notify_one();
  }
}

void Workers::run(std::size_t count, const std::function<void(std::size_t)>& task) {
  check_cancelled();
  if (count == 0) return;
  if (count == 1 || helpers_.empty()) {
    for (std::size_t i = 0; i < count; ++i) {
      check_cancelled();
      task(i);
    }
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    task_ = &task;
    count_ = count;
    next_ = 0;
    failure_ = nullptr;
    busy_ = helpers_.size();
    ++round_;
  }
  wake_.notify_all();
  work();
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return busy_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Workers::for_blocks(std::size_t rows, const std::function<void(std::size_t, std::size_t)>& task) {
  run((rows + kBlockRows - 1) / kBlockRows, [&](std::size_t block) {
    const std::size_t begin = block * kBlockRows;
    task(begin, std::min(rows, begin + kBlockRows));
  });
}

}  // namespace glmhost::table
