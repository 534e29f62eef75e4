#include "inference/kernels/machine_limits.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "inference/error.h"
#include "inference/kernels/limit_kernels.h"
#include "inference/kernels/page_memory.h"

namespace glmhost::kernels {

const LimitKernels& limit_kernels(InstructionSet set) {
  switch (set) {
    case InstructionSet::amx:
      return kAmxLimits;
    case InstructionSet::avx512:
      return kAvx512Limits;
    case InstructionSet::avxvnni:
      return kAvxVnniLimits;
    case InstructionSet::avx2:
      return kAvx2Limits;
    case InstructionSet::scalar:
      break;
  }
  return kScalarLimits;
}

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTime{60};  // of one measurement
constexpr int kTries = 3;                       // the best counts: a limit is what was reached at least once
constexpr std::size_t kMemoryBytes = std::size_t{256} << 20;
constexpr std::size_t kCacheBytes = std::size_t{1} << 20;
constexpr std::uint64_t kRounds = 2000;

// step(thread) does some work and says how much; 10^9 of it a second, of `threads` threads together.
template <class Step>
double rate(ThreadPool& pool, int threads, const Step& step) {
  double best = 0;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    std::vector<double> rates(static_cast<std::size_t>(threads));
    const auto body = [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t thread = begin; thread < end; ++thread) {
        std::uint64_t done = 0;
        const Clock::time_point start = Clock::now();
        do {
          done += step(thread);
        } while (Clock::now() - start < kTime);
        const std::chrono::duration<double> took = Clock::now() - start;
        rates[static_cast<std::size_t>(thread)] = static_cast<double>(done) / took.count() / 1e9;
      }
    };
    if (threads == 1) {
      body(0, 1, 0);
    } else {
      pool.for_range(threads, 1, body);
    }
    double sum = 0;
    for (const double one : rates) sum += one;
    best = std::max(best, sum);
  }
  return best;
}

}  // namespace

MachineLimits measure_limits(ThreadPool& pool, const std::atomic<bool>* cancel,
                             const std::function<void(double)>& progress) {
  const LimitKernels& kernels = limit_kernels(selected_instruction_set());
  PageMemory memory(kMemoryBytes);
  for (std::size_t at = 0; at < memory.size(); at += 64) memory.data()[at] = std::byte{1};  // a page of its own each
  const auto threads = static_cast<std::size_t>(pool.size());
  const std::size_t share = kMemoryBytes / threads / 512 * 512;
  const std::size_t cached = std::min(kCacheBytes, share);
  std::atomic<std::uint64_t> sink{0};
  const auto read = [&](std::int64_t thread, std::size_t bytes) -> std::uint64_t {
    sink += kernels.read(memory.data() + static_cast<std::size_t>(thread) * share, bytes);
    return bytes;
  };

  int finished = 0;
  const auto both = [&](const auto& step) {
    LimitRate result;
    for (const bool all : {false, true}) {
      if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) {
        throw Error(ErrorKind::cancelled, "Measuring was cancelled.");
      }
      (all ? result.all_threads : result.one_thread) = rate(pool, all ? pool.size() : 1, step);
      if (progress) progress(++finished / (kernels.bf16_tiles != nullptr ? 10.0 : 8.0));
    }
    return result;
  };
  MachineLimits limits;
  limits.memory_read = both([&](std::int64_t thread) { return read(thread, share); });
  limits.cache_read = both([&](std::int64_t thread) { return read(thread, cached); });
  limits.int8 = both([&](std::int64_t thread) { return kernels.int8(kRounds, static_cast<int>(thread) + 1); });
  limits.f32 = both([&](std::int64_t thread) { return kernels.f32(kRounds, static_cast<int>(thread) + 1); });
  if (kernels.bf16_tiles != nullptr) {
    limits.bf16_tiles =
        both([&](std::int64_t thread) { return kernels.bf16_tiles(kRounds, static_cast<int>(thread)); });
  }
  return limits;
}

}  // namespace glmhost::kernels
