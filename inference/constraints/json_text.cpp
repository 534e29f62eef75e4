#include "inference/constraints/json_text.h"

namespace glmhost::constraints {
namespace {

bool reaches_run(const Dfa& dfa, DfaState state, const Utf8Run& run, int index) {
  if (index >= run.length || index >= 4) return true;
  for (int byte = run.low[index]; byte <= run.high[index]; ++byte) {
    const DfaState next = dfa.step(state, static_cast<std::uint8_t>(byte));
    if (next != kDead && reaches_run(dfa, next, run, index + 1)) return true;
  }
  return false;
}

}  // namespace

bool reaches(const Dfa& dfa, DfaState state, char32_t first, char32_t last) {
  if (state == kDead) return false;
  if (first < 0xD800 && last > 0xDFFF) {
    return reaches(dfa, state, first, 0xD7FF) || reaches(dfa, state, 0xE000, last);
  }
  for (const Utf8Run& run : utf8_runs(first, last)) {
    if (reaches_run(dfa, state, run, 0)) return true;
  }
  return false;
}

}  // namespace glmhost::constraints
