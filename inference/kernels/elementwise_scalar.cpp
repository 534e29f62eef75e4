#include "inference/kernels/elementwise_kernels.h"
#include "inference/kernels/lanes_scalar.h"
#include "inference/kernels/tables.h"

namespace glmhost::kernels {

constinit const ElementwiseKernels kScalarElementwise = elementwise_table<ScalarLanes>();

}  // namespace glmhost::kernels
