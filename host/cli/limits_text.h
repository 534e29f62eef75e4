// The machine's limits, and what an operation reached of them, for people and for scripts.
#pragma once

#include <string>

#include "host/cli/json_text.h"
#include "inference/architectures/operation_times.h"
#include "inference/kernels/machine_limits.h"

namespace glmhost::cli {

std::string limits_text(const kernels::MachineLimits& limits, int threads);
Json limits_json(const kernels::MachineLimits& limits, int threads);

// What an operation, or several together, did in their time.
struct Achieved {
  double seconds = 0;
  double gigabytes = 0;  // 10^9 bytes that had to be read
  double gigaoperations = 0;

  void add(const architectures::OperationTime& time);
  double gb_per_s() const { return seconds > 0 ? gigabytes / seconds : 0; }
  double gop_per_s() const { return seconds > 0 ? gigaoperations / seconds : 0; }
};

// The share, 0 to 1 and sometimes more, of the limit that binds: of reading memory, or of arithmetic on the best unit
// that there is for it, whichever the operation came closer to. More than 1: it read from a cache.
struct Share {
  double of_reading = 0;
  double of_arithmetic = 0;
};
Share share_of_limits(const Achieved& achieved, const kernels::MachineLimits& limits);

const char* operation_name(architectures::Operation operation);  // "q k v", "attention", ...

}  // namespace glmhost::cli
