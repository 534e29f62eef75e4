#include "inference/kernels/kernel_table.h"

#include "inference/kernels/tables.h"

namespace glmhost::kernels {

const MatmulKernels& matmul_kernels(InstructionSet) {
  return kScalarMatmul;
}
const AttentionKernels& attention_kernels(InstructionSet) {
  return kScalarAttention;
}
const ElementwiseKernels& elementwise_kernels(InstructionSet) {
  return kScalarElementwise;
}

}  // namespace glmhost::kernels
