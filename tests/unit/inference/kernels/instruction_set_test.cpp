#include "inference/kernels/instruction_set.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace glmhost::kernels {

TEST_CASE("Scalar kernels are always there and the sets are in order") {
  const std::vector<InstructionSet> sets = supported_instruction_sets();
  REQUIRE_FALSE(sets.empty());
  CHECK(sets.front() == InstructionSet::scalar);
  CHECK(std::is_sorted(sets.begin(), sets.end()));
  CHECK(std::find(sets.begin(), sets.end(), selected_instruction_set()) != sets.end());
}

TEST_CASE("Every set has the name that GLM_KERNELS takes") {
  CHECK(name(InstructionSet::scalar) == "scalar");
  CHECK(name(InstructionSet::avx2) == "avx2");
  CHECK(name(InstructionSet::avxvnni) == "avxvnni");
  CHECK(name(InstructionSet::avx512) == "avx512");
  CHECK(name(InstructionSet::amx) == "amx");
}

}  // namespace glmhost::kernels
