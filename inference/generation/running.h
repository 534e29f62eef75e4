// A request on its way through the scheduler.
#pragma once

#include <cstdint>
#include <vector>

#include "inference/generation/scheduler.h"
#include "inference/generation/stop_matcher.h"
#include "inference/tokenizer/tokenizer.h"

namespace glmhost::generation {

inline std::int64_t pages_for(std::int64_t tokens) {
  return (tokens + kernels::kPageTokens - 1) / kernels::kPageTokens;
}

// Whatever is not computed yet (the prompt, a chosen token, or after parking everything) is fed
// the same way: tokens [computed, tokens.size()), the last of which wants logits.
struct Running {
  SequenceId id;
  GenerationRequest request;
  std::vector<std::int32_t> tokens;  // prompt and answer
  std::int64_t computed = 0;         // tokens whose keys and values are in the cache
  std::vector<std::byte*> pages;
  std::int64_t reserved = 0;  // pages set aside for it, those it has taken included; 0: parked
  tokenizer::Utf8Stream characters;
  StopMatcher stops;

  Running(SequenceId name, const GenerationRequest& wanted)
      : id(name), request(wanted), tokens(wanted.prompt), stops(wanted.stop) {}

  std::int64_t pending() const { return static_cast<std::int64_t>(tokens.size()) - computed; }
  std::int64_t generated() const { return static_cast<std::int64_t>(tokens.size() - request.prompt.size()); }
  bool answering() const { return pending() == 1 && generated() > 0; }
  bool parked() const { return reserved == 0; }
  bool interactive() const { return request.priority == Priority::interactive; }
};

}  // namespace glmhost::generation
