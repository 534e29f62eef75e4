#include "inference/kernels/kernel_table.h"

#include "inference/kernels/tables.h"

namespace glmhost::kernels {

const MatmulKernels& matmul_kernels(InstructionSet set) {
  switch (set) {
    case InstructionSet::amx:
      return kAmxMatmul;
    case InstructionSet::avx512:
      return kAvx512Matmul;
    case InstructionSet::avxvnni:
      return kAvxVnniMatmul;
    case InstructionSet::avx2:
      return kAvx2Matmul;
    case InstructionSet::scalar:
      break;
  }
  return kScalarMatmul;
}

const AttentionKernels& attention_kernels(InstructionSet set) {
  switch (set) {
    case InstructionSet::amx:
      return kAmxAttention;
    case InstructionSet::avx512:
      return kAvx512Attention;
    case InstructionSet::avxvnni:
    case InstructionSet::avx2:
      return kAvx2Attention;
    case InstructionSet::scalar:
      break;
  }
  return kScalarAttention;
}

const ElementwiseKernels& elementwise_kernels(InstructionSet set) {
  switch (set) {
    case InstructionSet::amx:
    case InstructionSet::avx512:
      return kAvx512Elementwise;
    case InstructionSet::avxvnni:
    case InstructionSet::avx2:
      return kAvx2Elementwise;
    case InstructionSet::scalar:
      break;
  }
  return kScalarElementwise;
}

}  // namespace glmhost::kernels
