#include "inference/kernels/attention_kernels.h"
#include "inference/kernels/lanes_scalar.h"
#include "inference/kernels/tables.h"

namespace glmhost::kernels {

constinit const AttentionKernels kScalarAttention = attention_table<ScalarLanes, 4>();

}  // namespace glmhost::kernels
