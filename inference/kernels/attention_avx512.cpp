#include "inference/kernels/attention_kernels.h"
#include "inference/kernels/lanes_avx512.h"
#include "inference/kernels/tables.h"

namespace glmhost::kernels {

constinit const AttentionKernels kAvx512Attention = attention_table<Avx512Lanes, 12>();

}  // namespace glmhost::kernels
