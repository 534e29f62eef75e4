// std::atomic's wait and notify, which in GCC 12's library lose a notification on systems without futexes: it comes
// between the look at the value and the sleep. Wakes without cause are possible: the caller looks again.
#pragma once

#include <atomic>
#include <cstdint>

namespace glmhost::kernels {

void wait_while_equal(const std::atomic<std::uint32_t>& value, std::uint32_t seen);
void wake_one(std::atomic<std::uint32_t>& value);
void wake_all(std::atomic<std::uint32_t>& value);

}  // namespace glmhost::kernels
