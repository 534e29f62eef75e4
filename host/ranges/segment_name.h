// Names of segments: glmhost-USER-PROCESS-16 hexadecimal digits.
#pragma once

#include <cstdint>
#include <string>

namespace glmhost::ranges {

// A new one each time.
std::string make_segment_name(std::uint32_t user, std::uint32_t process);

}  // namespace glmhost::ranges
