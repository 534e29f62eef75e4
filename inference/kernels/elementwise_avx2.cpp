#include "inference/kernels/elementwise_kernels.h"
#include "inference/kernels/lanes_avx2.h"
#include "inference/kernels/tables.h"

namespace glmhost::kernels {

constinit const ElementwiseKernels kAvx2Elementwise = elementwise_table<Avx2Lanes>();

}  // namespace glmhost::kernels
