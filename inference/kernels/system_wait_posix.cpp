#include "inference/kernels/system_wait.h"

namespace glmhost::kernels {

void wait_while_equal(const std::atomic<std::uint32_t>& value, std::uint32_t seen) {
  value.wait(seen, std::memory_order_acquire);
}
void wake_one(std::atomic<std::uint32_t>& value) {
  value.notify_one();
}
void wake_all(std::atomic<std::uint32_t>& value) {
  value.notify_all();
}

}  // namespace glmhost::kernels
