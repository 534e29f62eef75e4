#include "inference/kernels/attention_kernels.h"
#include "inference/kernels/lanes_avx2.h"
#include "inference/kernels/tables.h"

namespace glmhost::kernels {

constinit const AttentionKernels kAvx2Attention = attention_table<Avx2Lanes, 6>();

}  // namespace glmhost::kernels
