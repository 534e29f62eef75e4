// Attention with the kernels of one instruction set. Internal, for tests.
#pragma once

#include <span>

#include "inference/kernels/kernel_table.h"
#include "inference/kernels/thread_pool.h"

namespace glmhost::kernels {

void attention_with(const AttentionKernels& kernels, const AttentionParameters& parameters,
                    std::span<const AttentionRow> rows, ThreadPool& pool);

}  // namespace glmhost::kernels
