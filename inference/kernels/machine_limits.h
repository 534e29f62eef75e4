// What this machine can do at most, measured: the rates that the engine's own are compared with (`glm bench --limits`,
// `glm profile`). A second or two of full load on all threads.
#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "inference/kernels/thread_pool.h"

namespace glmhost::kernels {

// Per second: 10^9 bytes, or 10^9 operations, where a multiplication and its addition are two.
struct LimitRate {
  double one_thread = 0;
  double all_threads = 0;
};

struct MachineLimits {
  LimitRate memory_read;                // of 256 MiB, on huge pages where there are some: larger than caches as a rule
  LimitRate cache_read;                 // of 1 MiB a thread
  LimitRate int8;                       // dot products as the kernels of the chosen instruction set do them
  LimitRate f32;                        // fused multiply-adds
  std::optional<LimitRate> bf16_tiles;  // where there is a matrix unit
};

// progress: 0 .. 1. Throws Error(out_of_memory), and Error(cancelled) when `cancel` became true.
MachineLimits measure_limits(ThreadPool& pool, const std::atomic<bool>* cancel = nullptr,
                             const std::function<void(double)>& progress = {});

}  // namespace glmhost::kernels
