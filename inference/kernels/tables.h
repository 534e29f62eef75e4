// The tables of each instruction set, defined in the files of that set. 256-bit VNNI changes integer products only, AMX
// what is done with bulk rows only.
#pragma once

#include "inference/kernels/kernel_table.h"

namespace glmhost::kernels {

extern const MatmulKernels kScalarMatmul;
extern const MatmulKernels kAvx2Matmul;
extern const MatmulKernels kAvxVnniMatmul;
extern const MatmulKernels kAvx512Matmul;
extern const MatmulKernels kAmxMatmul;

extern const AttentionKernels kScalarAttention;
extern const AttentionKernels kAvx2Attention;
extern const AttentionKernels kAvx512Attention;
extern const AttentionKernels kAmxAttention;

extern const ElementwiseKernels kScalarElementwise;
extern const ElementwiseKernels kAvx2Elementwise;
extern const ElementwiseKernels kAvx512Elementwise;

}  // namespace glmhost::kernels
