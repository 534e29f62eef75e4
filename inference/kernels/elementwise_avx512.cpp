#include "inference/kernels/elementwise_kernels.h"
#include "inference/kernels/lanes_avx512.h"
#include "inference/kernels/tables.h"

namespace glmhost::kernels {

constinit const ElementwiseKernels kAvx512Elementwise = elementwise_table<Avx512Lanes>();

}  // namespace glmhost::kernels
