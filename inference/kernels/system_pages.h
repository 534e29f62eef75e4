// The two calls of PageMemory that differ between systems.
#pragma once

#include <cstddef>

namespace glmhost::kernels {

void* map_pages(std::size_t bytes);  // zeroed; null when the system refuses
void unmap_pages(void* data, std::size_t bytes);

}  // namespace glmhost::kernels
