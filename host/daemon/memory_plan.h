// Whether a model fits into memory, and what has to go for it. Plain arithmetic, so that tests can give it any machine.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace glmhost::daemon {

// Bytes.
struct MemoryNeed {
  std::uint64_t weights = 0;
  std::uint64_t workspace = 0;
  std::uint64_t cache_wanted = 0;
  std::uint64_t cache_least = 0;  // below this the model is of no use; equal to cache_wanted where the owner fixed it

  std::uint64_t with(std::uint64_t cache) const { return weights + workspace + cache; }
};

struct MemoryNow {
  std::uint64_t available = 0;  // that the machine could give; 0: unknown
  std::uint64_t untouched = 0;  // promised to the caches of loaded models, but not taken from `available` yet
  std::uint64_t limit = 0;      // for all models together; 0: none
  std::uint64_t loaded = 0;     // what the loaded models count against the limit
};

struct IdleModel {
  std::uint64_t bytes = 0;      // against the limit
  std::uint64_t untouched = 0;  // of these, not taken from the machine yet
};

struct MemoryPlan {
  bool fits = false;
  std::uint64_t cache = 0;      // what the cache may have
  std::size_t unload = 0;       // so many idle models, the least recently used first
  bool fits_when_idle = false;  // it would, if the models in use were not
  std::string sentence;         // why it does not fit, with the numbers
};

// A part of the machine stays free for everything else: 3 % of it, at least 128 MiB.
std::uint64_t headroom(std::uint64_t total_memory);

// idle: models without work, the least recently used first. As few of them go as possible; the cache shrinks to what is
// there only when unloading all of them does not make room for all of it.
MemoryPlan plan_memory(std::string_view model, const MemoryNeed& need, const MemoryNow& now,
                       std::span<const IdleModel> idle, std::uint64_t total_memory);

}  // namespace glmhost::daemon
