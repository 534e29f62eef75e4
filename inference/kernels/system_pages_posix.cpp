#include <sys/mman.h>

#include <cstdint>

#include "inference/kernels/system_pages.h"

namespace glmhost::kernels {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::size_t rounded(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

// A huge page must lie on a 2 MB boundary: a larger range is mapped and the ends are given back.
void* map_pages(std::size_t bytes) {
  constexpr std::size_t kSmallPage = 4096;
  const std::size_t wanted = rounded(bytes, kSmallPage);
  const std::size_t slack = wanted >= kHugePage ? kHugePage : 0;
  void* mapped = mmap(nullptr, wanted + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  if (slack == 0) return mapped;
  char* begin = static_cast<char*>(mapped);
  const std::size_t head = (kHugePage - reinterpret_cast<std::uintptr_t>(begin) % kHugePage) % kHugePage;
  if (head != 0) munmap(begin, head);
  if (slack != head) munmap(begin + head + wanted, slack - head);
#ifdef MADV_HUGEPAGE
  madvise(begin + head, wanted, MADV_HUGEPAGE);  // a wish: without it everything works, slower
#endif
  return begin + head;
}

void unmap_pages(void* data, std::size_t bytes) {
  munmap(data, rounded(bytes, 4096));
}

}  // namespace glmhost::kernels
