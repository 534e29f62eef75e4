#include <windows.h>

#include "inference/kernels/system_pages.h"

namespace glmhost::kernels {

// Large pages need a privilege that users do not have, so there is nothing to ask for.
void* map_pages(std::size_t bytes) {
  return VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void unmap_pages(void* data, std::size_t) {
  VirtualFree(data, 0, MEM_RELEASE);
}

}  // namespace glmhost::kernels
