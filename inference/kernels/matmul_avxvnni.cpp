#include "inference/kernels/ints_avx2.h"
#include "inference/kernels/matmul_kernels.h"
#include "inference/kernels/tables.h"

namespace glmhost::kernels {

constinit const MatmulKernels kAvxVnniMatmul = matmul_table<Avx2Ints<true>>();

}  // namespace glmhost::kernels
