// Zeroed memory of the process's own, straight from the system, on huge pages where the system gives them: reading
// weights through 2 MB pages is up to 1.7 times as fast as through 4 KB pages.
#pragma once

#include <cstddef>

namespace glmhost::kernels {

class PageMemory {
 public:
  PageMemory() = default;
  explicit PageMemory(std::size_t bytes);  // throws Error(out_of_memory); 0 bytes own nothing
  ~PageMemory();
  PageMemory(PageMemory&& other) noexcept;
  PageMemory& operator=(PageMemory&& other) noexcept;

  std::byte* data() const { return data_; }  // aligned to a page at least
  std::size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace glmhost::kernels
