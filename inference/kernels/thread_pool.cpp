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

namespace glmhost::kernels {
namespace {

using Body = std::function<void(std::int64_t, std::int64_t, int)>;

// How long a thread polls before it sleeps: longer than the serial work between two loops of a decode step, far
// shorter than anything a person or a power meter notices.
constexpr std::chrono::microseconds kSpin{50};

// Polls until ready() or the time is up.
template <class Ready>
bool spin(const Ready& ready) {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 16; ++i) {
      if (ready()) return true;
      _mm_pause();
    }
  } while (std::chrono::steady_clock::now() < end);
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
  std::vector<std::thread> workers;

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

  void work(int thread) {
    while (const std::optional<Piece> piece = take()) {
      (*piece->body)(piece->begin, piece->end, thread);
      if (done.fetch_add(1, std::memory_order_acq_rel) + 1 == piece->pieces) done.notify_one();
    }
  }

  void run_worker(int thread) {
    std::uint32_t seen = 0;
    while (!stop.load(std::memory_order_acquire)) {
      const auto started = [&] { return loops.load(std::memory_order_acquire) != seen; };
      if (!spin(started)) loops.wait(seen, std::memory_order_acquire);
      seen = loops.load(std::memory_order_acquire);
      work(thread);
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
    loops.notify_all();
  }

  void wait_for_all(std::uint32_t n_pieces) {
    for (;;) {
      const auto finished = [&] { return done.load(std::memory_order_acquire) == n_pieces; };
      if (spin(finished)) return;
      const std::uint32_t seen = done.load(std::memory_order_acquire);
      if (seen != n_pieces) done.wait(seen, std::memory_order_acquire);
    }
  }
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  const int count = std::max(threads, 1);
  state_->scratch.resize(static_cast<std::size_t>(count));
  for (int thread = 1; thread < count; ++thread) {
    state_->workers.emplace_back([state = state_.get(), thread] { state->run_worker(thread); });
  }
}

ThreadPool::~ThreadPool() {
  state_->stop.store(true, std::memory_order_release);
  state_->wake();
  for (std::thread& worker : state_->workers) worker.join();
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
  state_->publish(count, step, n_pieces, body);
  state_->work(0);
  state_->wait_for_all(n_pieces);
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
