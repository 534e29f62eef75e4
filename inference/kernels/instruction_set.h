// Which instruction set the kernels use: chosen once from CPUID, or named by the environment variable GLM_KERNELS
// (scalar, avx2, avxvnni, avx512, amx) so that a test or a bug report can run a lesser path on a better machine.
#pragma once

#include <string_view>
#include <vector>

namespace glmhost::kernels {

enum class InstructionSet {
  scalar,   // portable reference: also the oracle of the tests
  avx2,     // AVX2 + FMA + F16C
  avxvnni,  // avx2 + 256-bit VNNI
  avx512,   // AVX-512 F/BW/VL/DQ + VNNI
  amx,      // avx512 + BF16 and its tiles
};

std::string_view name(InstructionSet set);
std::vector<InstructionSet> supported_instruction_sets();  // of this machine, least first; scalar is always there
InstructionSet selected_instruction_set();                 // best supported, or GLM_KERNELS; fixed at first call

}  // namespace glmhost::kernels
