// What must be right about a request before it may run.
#pragma once

#include <cstdint>

#include "inference/generation/scheduler.h"

namespace glmhost::generation {

// context: the most tokens one sequence may have. Throws Error: bad_argument naming the field, context_exceeded saying
// by how much.
void check_request(const GenerationRequest& request, const architectures::Hyperparameters& model, std::int64_t context);

}  // namespace glmhost::generation
