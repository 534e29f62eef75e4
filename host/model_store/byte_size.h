// Sizes for people.
#pragma once

#include <cstdint>
#include <string>

namespace glmhost::model_store {

// "512 B", "93.8 MB", "18.3 GB": powers of 1000, as disks and download pages count.
std::string byte_size(std::uint64_t bytes);

}  // namespace glmhost::model_store
