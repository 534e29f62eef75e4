// One sequence run straight through a model, without a scheduler: for tests, `glm logits`, `glm validate`, `glm bench`.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "inference/architectures/model.h"
#include "inference/kernels/page_memory.h"

namespace glmhost::architectures {

class Sequence {
 public:
  // Room for max_tokens positions. Throws Error(out_of_memory).
  Sequence(const Model& model, std::int64_t max_tokens);
  // Begins with what `prefix` holds, whose cache is shared as far as whole pages go; the rest of it is copied. prefix
  // must neither be fed nor truncated while this one lives.
  Sequence(const Sequence& prefix, std::int64_t max_tokens);

  // Feeds tokens after those fed before, as one forward pass; at most the workspace's rows. logits: one row of the
  // vocabulary for each token with Logits::all, for the last one with Logits::last. prompt_tokens: how long the prompt
  // is of which they are a part, counted from the sequence's start.
  enum class Logits { none, last, all };
  void feed(std::span<const std::int32_t> tokens, Logits wanted, float* logits, Model::Workspace& workspace,
            kernels::ThreadPool& pool, const LayerObserver* observer = nullptr, std::int64_t prompt_tokens = 0);

  std::int64_t length() const { return length_; }
  void truncate(std::int64_t length) { length_ = length; }  // forgets what was fed after it
  void advance(std::int64_t tokens) { length_ += tokens; }  // after a batch that had rows of this sequence

  // A row of this sequence at `position`, for a batch of several sequences.
  BatchRow row(std::int32_t token, std::int64_t position, bool wants_logits) const {
    return {token, position, pages_, wants_logits};
  }

 private:
  void own_pages(std::int64_t count);

  const Model* model_;
  kernels::PageMemory memory_;  // the pages that are its own
  std::vector<std::byte*> pages_;
  std::vector<BatchRow> rows_;
  std::int64_t length_ = 0;
};

}  // namespace glmhost::architectures
