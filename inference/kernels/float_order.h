// Constants that fix the order and the rounding of float operations: every instruction set must use the same.
#pragma once

#include <cstdint>

namespace glmhost::kernels {

// A product with float weights adds the products of this many columns one after the other, starting from zero, and
// then adds these sums one after the other: more exact than one long chain, and several chains may run at once.
inline constexpr std::int64_t kFloatChunk = 64;

// A block of activations whose values are all smaller is taken as zero: 127 / max must not overflow.
inline constexpr float kSmallestActivation = 0x1p-100F;

// Attention runs online over this many positions and then joins the results of such segments, in order. Segments begin
// at multiples of it, so the order does not depend on who asks; several threads may take a sequence's segments.
inline constexpr std::int64_t kSegmentTokens = 512;

}  // namespace glmhost::kernels
