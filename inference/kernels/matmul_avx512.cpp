#include "inference/kernels/ints_avx512.h"
#include "inference/kernels/matmul_kernels.h"
#include "inference/kernels/tables.h"

namespace glmhost::kernels {

constinit const MatmulKernels kAvx512Matmul = matmul_table<Avx512Ints>();

}  // namespace glmhost::kernels
