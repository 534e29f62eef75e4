#include "host/daemon/memory_plan.h"

#include <algorithm>
#include <limits>

#include "host/settings/value_text.h"

namespace glmhost::daemon {
namespace {

std::uint64_t minus(std::uint64_t a, std::uint64_t b) {
  return a > b ? a - b : 0;
}

// What may be taken once the first `count` idle models are gone.
std::uint64_t free_bytes(const MemoryNow& now, std::span<const IdleModel> idle, std::size_t count,
                         std::uint64_t kept_free) {
  std::uint64_t counted = 0, given_back = 0, promised = 0;
  for (const IdleModel& model : idle.first(count)) {
    counted += model.bytes;
    given_back += minus(model.bytes, model.untouched);
    promised += model.untouched;
  }
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  if (now.limit > 0) most = minus(now.limit, minus(now.loaded, counted));
  if (now.available > 0) {
    const std::uint64_t taken = minus(now.untouched, promised) + kept_free;
    most = std::min(most, minus(now.available + given_back, taken));
  }
  return most;
}

}  // namespace

std::uint64_t headroom(std::uint64_t total_memory) {
  return std::max<std::uint64_t>(128u << 20, total_memory / 100 * 3);
}

MemoryPlan plan_memory(std::string_view model, const MemoryNeed& need, const MemoryNow& now,
                       std::span<const IdleModel> idle, std::uint64_t total_memory) {
  using settings::rounded_bytes_text;
  const std::uint64_t kept_free = headroom(total_memory);
  MemoryPlan plan;
  for (std::size_t unload = 0; unload <= idle.size(); ++unload) {
    if (need.with(need.cache_wanted) > free_bytes(now, idle, unload, kept_free)) continue;
    return {.fits = true, .cache = need.cache_wanted, .unload = unload, .fits_when_idle = true, .sentence = {}};
  }
  for (std::size_t unload = 0; unload <= idle.size(); ++unload) {
    const std::uint64_t free = free_bytes(now, idle, unload, kept_free);
    if (need.with(need.cache_least) > free) continue;
    // As much cache as unloading everything idle gives would cost reloads; as much as this step gives is enough.
    return {.fits = true, .cache = free - need.with(0), .unload = unload, .fits_when_idle = true, .sentence = {}};
  }
  const std::uint64_t free = free_bytes(now, idle, idle.size(), kept_free);
  plan.sentence = "The model " + std::string(model) + " needs " + rounded_bytes_text(need.with(need.cache_least)) +
                  " of memory (" + rounded_bytes_text(need.weights) + " weights, " +
                  rounded_bytes_text(need.cache_least) + " cache, " + rounded_bytes_text(need.workspace) +
                  " workspace), but only " + rounded_bytes_text(free) + " can be had";
  const bool limited = now.limit > 0 && (now.available == 0 || minus(now.limit, now.loaded) < now.available);
  if (limited) {
    plan.sentence += " within the memory_limit of " + rounded_bytes_text(now.limit);
  } else if (now.available > 0) {
    plan.sentence +=
        " (" + rounded_bytes_text(now.available) + " are free, of which " + rounded_bytes_text(kept_free) + " stay so)";
  }
  std::uint64_t idle_bytes = 0;
  for (const IdleModel& one : idle) idle_bytes += one.bytes;
  const std::uint64_t in_use = minus(now.loaded, idle_bytes);
  plan.fits_when_idle = in_use > 0 && need.with(need.cache_least) <= free + in_use;
  if (plan.fits_when_idle) {
    plan.sentence += "; " + rounded_bytes_text(in_use) + " are in use by models that are answering: try again later.";
  } else if (limited) {
    plan.sentence +=
        ". Raise memory_limit (config.toml, GLM_HOST_MEMORY_LIMIT, --memory-limit) or take a smaller model or "
        "quantisation.";
  } else {
    plan.sentence += ". Close other programs, or take a smaller model or quantisation.";
  }
  return plan;
}

}  // namespace glmhost::daemon
