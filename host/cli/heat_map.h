// A profile as a page of its own and as text.
#pragma once

#include <string>

#include "inference/generation/profile.h"
#include "inference/kernels/machine_limits.h"

namespace glmhost::cli {

struct ProfileReport {
  std::string model;    // the file's name
  std::string kernels;  // instruction set
  int threads = 0;
  generation::ModelProfile profile;
  kernels::MachineLimits limits;
};

// One HTML file without references to anything outside of it.
std::string heat_map_html(const ProfileReport& report);
// A table of operations for each phase, and a line of shades for each layer.
std::string heat_map_text(const ProfileReport& report);

}  // namespace glmhost::cli
