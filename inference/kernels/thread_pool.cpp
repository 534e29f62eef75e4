#include "inference/kernels/thread_pool.h"

#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <optional>
#include <thread>
#include <vector>

#include "inference/kernels/page_memory.h"
#include "inference/kernels/system_wait.h"

namespace glmhost::kernels {
namespace {

using Body = std::function<void(std::int64_t, std::int64_t, int)>;
using Clock = std::chrono::steady_clock;

// How long a thread polls before it sleeps: longer than the serial work between two loops of a decode step, far
// shorter than anything a person or a power meter notices.
constexpr Clock::duration kSpin = std::chrono::microseconds(50);

// When another program takes a worker's core in the middle of a piece, everybody waits until the worker runs again,
// many loops' time. A worker that kept the loop waiting this much longer than pieces take ...
constexpr int kLatePieces = 3;
constexpr Clock::duration kLate = std::chrono::microseconds(200);
// ... stays out for this many times the delay: what such delays cost together is then at most one part in so many.
constexpr int kLeaveFactor = 8;
constexpr Clock::duration kLongestLeave = std::chrono::milliseconds(500);
constexpr Clock::duration kLeaveNap = std::chrono::milliseconds(10);  // a worker on leave looks up this often

// Polls until ready() or the time is up.
template <class Ready>
bool spin(const Ready& ready) {
  const auto end = Clock::now() + kSpin;
  do {
    for (int i = 0; i < 16; ++i) {
      if (ready()) return true;
      _mm_pause();
    }
  } while (Clock::now() < end);
  return ready();
}

void grow(PageMemory& memory, std::size_t bytes) {
  if (memory.size() < bytes) memory = PageMemory(bytes);
}

}  // namespace

// One loop at a time. `ticket` holds the loop's number in its upper half and the next piece in its lower half; a piece
// is taken by compare-and-swap. A thread that reads the loop's description late, while the next one is being
// written, fails that swap, because the ticket is closed before the description changes. The caller leaves only when
// every piece is done, so whoever holds a piece may use the description.
struct ThreadPool::State {
  static constexpr std::uint32_t kClosed = std::numeric_limits<std::uint32_t>::max();

  struct Piece {
    const Body* body;
    std::int64_t begin;
    std::int64_t end;
    std::uint32_t pieces;
  };

  struct alignas(64) Worker {
    std::atomic<Clock::rep> finished{0};  // when it last had no piece left
    std::atomic<Clock::rep> leave{0};     // until when it stays out of loops
    std::thread thread;
  };

  alignas(64) std::atomic<std::uint64_t> ticket{kClosed};
  std::atomic<const Body*> body{nullptr};
  std::atomic<std::int64_t> count{0};
  std::atomic<std::int64_t> grain{1};
  std::atomic<std::uint32_t> pieces{0};
  alignas(64) std::atomic<std::uint32_t> done{0};   // pieces finished; the caller waits on it
  alignas(64) std::atomic<std::uint32_t> loops{0};  // loops started; workers wait on it
  std::atomic<bool> stop{false};

  std::vector<PageMemory> scratch;
  PageMemory shared_scratch;
  std::vector<std::unique_ptr<Worker>> workers;

  std::optional<Piece> take() {
    std::uint64_t seen = ticket.load(std::memory_order_acquire);
    for (;;) {
      const auto index = static_cast<std::uint32_t>(seen);
      const std::uint32_t all = pieces.load(std::memory_order_acquire);
      if (index == kClosed || index >= all) return std::nullopt;
      const Body* what = body.load(std::memory_order_acquire);
      const std::int64_t n = count.load(std::memory_order_acquire);
      const std::int64_t step = grain.load(std::memory_order_acquire);
      if (ticket.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
        return Piece{what, index * step, std::min(n, (index + 1) * step), all};
      }
    }
  }

  // Runs pieces until none is left to take; returns how many. They are counted as done in one step, because `done` is
  // a line that all threads share.
  std::uint32_t work(int thread, Worker* worker) {
    std::uint32_t mine = 0;
    std::uint32_t all = 0;
    while (const std::optional<Piece> piece = take()) {
      (*piece->body)(piece->begin, piece->end, thread);
      all = piece->pieces;
      ++mine;
    }
    if (mine == 0) return 0;
    if (worker != nullptr) worker->finished.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
    if (done.fetch_add(mine, std::memory_order_acq_rel) + mine == all) wake_one(done);
    return mine;
  }

  void run_worker(int thread, Worker& worker) {
    std::uint32_t seen = 0;
    while (!stop.load(std::memory_order_acquire)) {
      const auto started = [&] { return loops.load(std::memory_order_acquire) != seen; };
      if (!spin(started)) wait_while_equal(loops, seen);
      stay_out(worker);
      seen = loops.load(std::memory_order_acquire);
      work(thread, &worker);
    }
  }

  void stay_out(const Worker& worker) {
    const Clock::time_point end{Clock::duration(worker.leave.load(std::memory_order_relaxed))};
    while (!stop.load(std::memory_order_acquire) && Clock::now() < end) {
      std::this_thread::sleep_until(std::min(end, Clock::now() + kLeaveNap));
    }
  }

  void publish(std::int64_t n, std::int64_t step, std::uint32_t n_pieces, const Body& what) {
    const std::uint64_t loop = (ticket.load(std::memory_order_relaxed) >> 32) + 1;
    ticket.store(((loop - 1) << 32) | kClosed, std::memory_order_release);
    body.store(&what, std::memory_order_release);
    count.store(n, std::memory_order_release);
    grain.store(step, std::memory_order_release);
    pieces.store(n_pieces, std::memory_order_release);
    done.store(0, std::memory_order_release);
    ticket.store(loop << 32, std::memory_order_release);
    wake();
  }

  void wake() {
    loops.fetch_add(1, std::memory_order_acq_rel);
    wake_all(loops);
  }

  // Waits for the workers' pieces. began: when the loop did; mine: the pieces that the caller ran itself.
  void wait_for_all(std::uint32_t n_pieces, std::uint32_t mine, Clock::time_point began) {
    const auto finished = [&] { return done.load(std::memory_order_acquire) == n_pieces; };
    if (finished()) return;
    const Clock::time_point idle = Clock::now();
    while (!spin(finished)) {
      const std::uint32_t seen = done.load(std::memory_order_acquire);
      if (seen != n_pieces) wait_while_equal(done, seen);
    }
    const Clock::duration piece = (idle - began) / std::max<std::uint32_t>(mine, 1);
    const Clock::time_point late = idle + kLatePieces * piece + kLate;
    const Clock::time_point now = Clock::now();
    if (now < late) return;
    const Clock::time_point leave = now + std::min(kLongestLeave, kLeaveFactor * (now - idle));
    for (const std::unique_ptr<Worker>& worker : workers) {
      if (worker->finished.load(std::memory_order_relaxed) < late.time_since_epoch().count()) continue;
      worker->leave.store(leave.time_since_epoch().count(), std::memory_order_relaxed);
    }
  }
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  const int count = std::max(threads, 1);
  state_->scratch.resize(static_cast<std::size_t>(count));
  for (int thread = 1; thread < count; ++thread) {
    state_->workers.push_back(std::make_unique<State::Worker>());
    State::Worker& worker = *state_->workers.back();
    worker.thread = std::thread([state = state_.get(), thread, &worker] { state->run_worker(thread, worker); });
  }
}

ThreadPool::~ThreadPool() {
  state_->stop.store(true, std::memory_order_release);
  state_->wake();
  for (const std::unique_ptr<State::Worker>& worker : state_->workers) worker->thread.join();
}

int ThreadPool::size() const {
  return static_cast<int>(state_->workers.size()) + 1;
}

void ThreadPool::for_range(std::int64_t count, std::int64_t grain, const Body& body) {
  if (count <= 0) return;
  const std::int64_t step = std::max<std::int64_t>(grain, 1);
  const std::int64_t pieces = (count - 1) / step + 1;
  if (pieces == 1 || state_->workers.empty() || pieces >= State::kClosed) {
    for (std::int64_t begin = 0; begin < count; begin += step) body(begin, std::min(count, begin + step), 0);
    return;
  }
  const auto n_pieces = static_cast<std::uint32_t>(pieces);
  const Clock::time_point began = Clock::now();
  state_->publish(count, step, n_pieces, body);
  const std::uint32_t mine = state_->work(0, nullptr);
  state_->wait_for_all(n_pieces, mine, began);
}

void ThreadPool::reserve_scratch(std::size_t bytes_per_thread, std::size_t shared_bytes) {
  for (PageMemory& memory : state_->scratch) grow(memory, bytes_per_thread);
  grow(state_->shared_scratch, shared_bytes);
}

std::byte* ThreadPool::scratch(int thread) const {
  return state_->scratch[static_cast<std::size_t>(thread)].data();
}
std::byte* ThreadPool::shared_scratch() const {
  return state_->shared_scratch.data();
}

}  // namespace glmhost::kernels
