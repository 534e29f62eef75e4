// A request on its way through the scheduler.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "inference/generation/cache_ledger.h"
#include "inference/generation/output_form.h"
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
  std::int64_t reused = 0;  // prompt tokens that the cache spared it before its first answer token
  tokenizer::Utf8Stream characters;
  StopMatcher stops;
  std::optional<FormFollower> form;
  bool jumps = false;       // with a form: what must come is not asked for
  std::size_t opening = 0;  // tokens of the answer that the form demanded and no event has told of yet

  Running(SequenceId name, const GenerationRequest& wanted, const tokenizer::Tokenizer& tokenizer, bool may_jump)
      : id(name), request(wanted), tokens(wanted.prompt), stops(wanted.stop) {
    if (kernels::has_bulk_products()) cache.shareable = std::ssize(wanted.prompt);
    if (request.form.constraint == nullptr) return;
    form.emplace(request.form, tokenizer);
    // Whoever asks for probabilities wants the model's word on every token.
    jumps = may_jump && request.sampling.logprobs == 0;
    if (!jumps) return;
    const std::vector<std::int32_t> demanded = form->opening(static_cast<std::size_t>(request.max_tokens - 1));
    opening = demanded.size();
    tokens.insert(tokens.end(), demanded.begin(), demanded.end());
  }

  std::int64_t pending() const { return static_cast<std::int64_t>(tokens.size()) - cache.computed; }
  std::int64_t generated() const { return static_cast<std::int64_t>(tokens.size() - request.prompt.size()); }
  bool answering() const { return pending() == 1 && generated() > 0; }
  bool parked() const { return cache.promised == 0; }
  bool interactive() const { return request.priority == Priority::interactive; }
};

}  // namespace glmhost::generation
