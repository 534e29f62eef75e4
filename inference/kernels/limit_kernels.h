// Loops that do nothing but keep one unit of the processor busy. Internal.
#pragma once

#include <cstddef>
#include <cstdint>

#include "inference/kernels/instruction_set.h"

namespace glmhost::kernels {

struct LimitKernels {
  std::uint64_t (*read)(const std::byte* from, std::size_t bytes);  // bytes: a multiple of 512. A value of no meaning
  // Each returns how many operations it did; `seed` keeps compilers from computing the result beforehand.
  std::uint64_t (*int8)(std::uint64_t rounds, int seed);
  std::uint64_t (*f32)(std::uint64_t rounds, int seed);
  std::uint64_t (*bf16_tiles)(std::uint64_t rounds, int seed) = nullptr;
};

extern const LimitKernels kScalarLimits;
extern const LimitKernels kAvx2Limits;
extern const LimitKernels kAvxVnniLimits;
extern const LimitKernels kAvx512Limits;
extern const LimitKernels kAmxLimits;

const LimitKernels& limit_kernels(InstructionSet set);

// A loop's results go here, so that it is not left out.
template <class T>
inline void keep_result(T& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

}  // namespace glmhost::kernels
