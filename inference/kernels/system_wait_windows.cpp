#include <windows.h>

#include "inference/kernels/system_wait.h"

namespace glmhost::kernels {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

void wait_while_equal(const std::atomic<std::uint32_t>& value, std::uint32_t seen) {
  auto* address = const_cast<std::atomic<std::uint32_t>*>(&value);
  while (value.load(std::memory_order_acquire) == seen) WaitOnAddress(address, &seen, sizeof(seen), INFINITE);
}
void wake_one(std::atomic<std::uint32_t>& value) {
  WakeByAddressSingle(&value);
}
void wake_all(std::atomic<std::uint32_t>& value) {
  WakeByAddressAll(&value);
}

}  // namespace glmhost::kernels
