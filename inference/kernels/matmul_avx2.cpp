#include "inference/kernels/ints_avx2.h"
#include "inference/kernels/matmul_kernels.h"
#include "inference/kernels/tables.h"

namespace glmhost::kernels {

constinit const MatmulKernels kAvx2Matmul = matmul_table<Avx2Ints<false>>();

}  // namespace glmhost::kernels
