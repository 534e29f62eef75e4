#include "excel-addin/table/workers.h"

#include <algorithm>
#include <chrono>
#include <cmath>
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

namespace {

std::string megabytes(double bytes) {
  constexpr double kMegabyte = 1 << 20;
  return std::to_string(static_cast<std::uint64_t>(std::min(std::ceil(bytes / kMegabyte), 1e18))) + " MiB";
}

constexpr const char* kWayOut = " Give more by --memory, or filter, select or group earlier.";

}  // namespace

void Workers::check_cancelled() const {
  if (cancel_ != nullptr && cancel_->load(std::memory_order_relaxed)) throw Cancelled();
  if (memory_.most_bytes == 0) return;
  constexpr std::chrono::steady_clock::duration kEvery = std::chrono::milliseconds(10);
  const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
  std::int64_t seen = memory_seen_.load(std::memory_order_relaxed);
  if (now - seen < kEvery.count() || !memory_seen_.compare_exchange_strong(seen, now)) return;
  const std::uint64_t used = memory_.used();
  if (used <= memory_.most_bytes) return;
  throw TableError("This takes " + megabytes(static_cast<double>(used)) + " of memory so far, and may take " +
                   megabytes(static_cast<double>(memory_.most_bytes)) + "." + kWayOut);
}

void Workers::require_memory(double further_bytes, const std::string& what) const {
  if (memory_.most_bytes == 0) return;
  const double used = static_cast<double>(memory_.used());
  if (used + further_bytes <= static_cast<double>(memory_.most_bytes)) return;
  throw TableError(what + " about " + megabytes(further_bytes) + " of memory beside the " + megabytes(used) +
                   " in use; " + megabytes(static_cast<double>(memory_.most_bytes)) + " are allowed." + kWayOut);
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
