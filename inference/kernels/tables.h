// The table of each instruction set, defined in the file of that set.
#pragma once

#include "inference/kernels/kernel_table.h"

namespace glmhost::kernels {

extern const MatmulKernels kScalarMatmul;
extern const AttentionKernels kScalarAttention;
extern const ElementwiseKernels kScalarElementwise;

}  // namespace glmhost::kernels
