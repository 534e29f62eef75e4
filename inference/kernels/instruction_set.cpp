#include "inference/kernels/instruction_set.h"

#include <cpuid.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "inference/error.h"
#include "inference/kernels/tile_permission.h"

namespace glmhost::kernels {
namespace {

struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

Registers cpuid(unsigned leaf, unsigned subleaf) {
  Registers r;
  __get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d);
  return r;
}

// The register state the operating system saves (XCR0). Without it a CPU's AVX must not be used.
std::uint64_t saved_state() {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<std::uint64_t>(high) << 32) | low;
}

constexpr bool has(unsigned word, int bit) {
  return (word >> bit & 1) != 0;
}

InstructionSet named(std::string_view wanted) {
  std::string supported;
  for (InstructionSet set : supported_instruction_sets()) {
    if (name(set) == wanted) return set;
    supported += supported.empty() ? "" : ", ";
    supported += name(set);
  }
  throw Error(ErrorKind::bad_argument, "The environment variable GLM_KERNELS is \"" + std::string(wanted) +
                                           "\", which this machine cannot run. Set it to one of " + supported +
                                           ", or unset it to use the best.");
}

InstructionSet select() {
  const char* wanted = std::getenv("GLM_KERNELS");
  return wanted != nullptr && *wanted != '\0' ? named(wanted) : supported_instruction_sets().back();
}

}  // namespace

std::string_view name(InstructionSet set) {
  switch (set) {
    case InstructionSet::scalar:
      return "scalar";
    case InstructionSet::avx2:
      return "avx2";
    case InstructionSet::avxvnni:
      return "avxvnni";
    case InstructionSet::avx512:
      return "avx512";
    case InstructionSet::amx:
      return "amx";
  }
  return "unknown";
}

std::vector<InstructionSet> supported_instruction_sets() {
  std::vector<InstructionSet> sets = {InstructionSet::scalar};
  const Registers features = cpuid(1, 0);
  constexpr int kFma = 12, kOsxsave = 27, kF16c = 29;
  if (!has(features.c, kOsxsave) || !has(features.c, kFma) || !has(features.c, kF16c)) return sets;
  constexpr std::uint64_t kYmmState = 0x06, kZmmState = 0xE6;
  const std::uint64_t state = saved_state();
  if ((state & kYmmState) != kYmmState) return sets;

  const Registers extended = cpuid(7, 0);
  constexpr int kAvx2 = 5, kBmi2 = 8;
  if (!has(extended.b, kAvx2) || !has(extended.b, kBmi2)) return sets;
  sets.push_back(InstructionSet::avx2);

  constexpr int kAvxVnni = 4;
  if (has(cpuid(7, 1).a, kAvxVnni)) sets.push_back(InstructionSet::avxvnni);

  constexpr int kAvx512F = 16, kAvx512Dq = 17, kAvx512Bw = 30, kAvx512Vl = 31, kAvx512Vnni = 11;
  if ((state & kZmmState) == kZmmState && has(extended.b, kAvx512F) && has(extended.b, kAvx512Dq) &&
      has(extended.b, kAvx512Bw) && has(extended.b, kAvx512Vl) && has(extended.c, kAvx512Vnni)) {
    sets.push_back(InstructionSet::avx512);
    constexpr int kAmxBf16 = 22, kAmxTile = 24, kAvx512Bf16 = 5;
    constexpr std::uint64_t kTileState = 0x60000;
    if ((state & kTileState) == kTileState && has(extended.d, kAmxTile) && has(extended.d, kAmxBf16) &&
        has(cpuid(7, 1).a, kAvx512Bf16) && request_tile_permission()) {
      sets.push_back(InstructionSet::amx);
    }
  }
  return sets;
}

InstructionSet selected_instruction_set() {
  static const InstructionSet selected = select();
  return selected;
}

}  // namespace glmhost::kernels
