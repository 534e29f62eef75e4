#include "inference/kernels/page_memory.h"

#include <string>
#include <utility>

#include "inference/error.h"
#include "inference/kernels/system_pages.h"

namespace glmhost::kernels {

PageMemory::PageMemory(std::size_t bytes) {
  if (bytes == 0) return;
  data_ = static_cast<std::byte*>(map_pages(bytes));
  if (data_ == nullptr) {
    throw Error(ErrorKind::out_of_memory, "The system refused " + std::to_string((bytes >> 20) + 1) +
                                              " MB of memory. Close other programs or take a smaller model.");
  }
  size_ = bytes;
}

PageMemory::~PageMemory() {
  if (data_ != nullptr) unmap_pages(data_, size_);
}

PageMemory::PageMemory(PageMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

PageMemory& PageMemory::operator=(PageMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

}  // namespace glmhost::kernels
