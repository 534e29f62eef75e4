// A request on its way through the scheduler.
#pragma once

#include <cstdint>
#include <vector>

#include "inference/generation/cache_ledger.h"
#include "inference/generation/scheduler.h"
#include "inference/generation/stop_matcher.h"
#include "inference/kernels/matmul.h"
#include "inference/tokenizer/tokenizer.h"

namespace glmhost::generation {

// Whatever is not computed yet (the prompt, a chosen token, or after parking everything) is fed the same way: tokens
// [cache.computed, tokens.size()), the last of which wants logits.
struct Running {
  SequenceId id;
  GenerationRequest request;
  std::vector<std::int32_t> tokens;  // prompt and answer
  CacheHolding cache;
  tokenizer::Utf8Stream characters;
  StopMatcher stops;

  Running(SequenceId name, const GenerationRequest& wanted)
      : id(name), request(wanted), tokens(wanted.prompt), stops(wanted.stop) {
    if (kernels::has_bulk_products()) cache.shareable = static_cast<std::int64_t>(wanted.prompt.size());
  }

  std::int64_t pending() const { return static_cast<std::int64_t>(tokens.size()) - cache.computed; }
  std::int64_t generated() const { return static_cast<std::int64_t>(tokens.size() - request.prompt.size()); }
  bool answering() const { return pending() == 1 && generated() > 0; }
  bool parked() const { return cache.promised == 0; }
  bool interactive() const { return request.priority == Priority::interactive; }
};

}  // namespace glmhost::generation
