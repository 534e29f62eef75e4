// Several requests on one model as one batch: sequences join and leave between steps.
//
// A step runs every running sequence's next token and pieces of waiting prompts as one forward pass. While an
// interactive sequence is there, batch sequences rest. Their cache is kept; only when an interactive request does not
// fit otherwise, the youngest of them lose theirs and are computed again later, to the same tokens. Output is
// reproducible: the same request gives the same tokens whatever else is in the batch (see kernels/matmul.h,
// attention.h, sampler.h).
//
// Full cache pages stay known by their tokens after a sequence has ended, as long as there is room: a prompt that
// begins with the same tokens (a system prompt, the earlier turns of a conversation) takes them over instead of
// computing them, and of several such prompts that come together one computes the common part while the others wait for
// it.
//
// Thread rules: add, step and the queries are called by one thread, the engine's. cancel may be called by any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inference/architectures/model.h"
#include "inference/generation/output_form.h"
#include "inference/generation/sampler.h"
#include "inference/tokenizer/tokenizer.h"

namespace glmhost::generation {

enum class Priority { interactive, batch };

enum class FinishReason {
  stop,     // the model ended its turn, a stop string came, or the demanded form is complete
  length,   // max_tokens
  context,  // the model's context is full
  cancelled,
  failed,  // the model gave no usable numbers (a damaged file, an overflow); SequenceEvent::failure says so
};

struct GenerationRequest {
  std::vector<std::int32_t> prompt;  // at least one token
  SamplingOptions sampling;
  std::int32_t max_tokens = 512;  // 1 .. context length
  std::vector<std::string> stop;  // texts that end the answer and are not part of it; at most 16, not empty
  Priority priority = Priority::interactive;
  OutputForm form;  // without a constraint: any; with one that holds from the beginning, no stop strings
};

using SequenceId = std::uint64_t;

// What one step brought for one sequence. Text is whole characters; text that may still become a stop string is held
// back. tokens are the ids behind this event (also those whose text is held back), without the id that ends the turn.
struct SequenceEvent {
  SequenceId sequence = 0;
  std::string text;
  std::vector<std::int32_t> tokens;
  std::vector<Choice> choices;            // with logprobs, when asked for
  std::int64_t reused_prompt_tokens = 0;  // of its prompt, taken over from the cache
  std::optional<FinishReason> finished;   // the last event of a sequence
  std::string failure;                    // a sentence, only with FinishReason::failed
};

struct SchedulerOptions {
  std::uint64_t kv_bytes = 0;       // bound of the cache; 0: one full context, at most 1 GiB
  std::int32_t max_sequences = 32;  // running at once
  std::int32_t prompt_piece = 256;  // prompt tokens taken into one step
  bool jump_ahead = true;           // what a demanded form leaves no choice about is written without asking the model
};

class Scheduler {
 public:
  // model and tokenizer must outlive the scheduler. Throws Error(out_of_memory).
  Scheduler(const architectures::Model& model, const tokenizer::Tokenizer& tokenizer, kernels::ThreadPool& pool,
            const SchedulerOptions& options);
  ~Scheduler();

  std::int64_t context_tokens() const;  // the most tokens one sequence may have: model's context and pool together

  // Checks and throws without side effects: Error(context_exceeded) when the prompt alone does not fit (says by how
  // much), bad_argument for options. A sequence that fits is never refused later: pages for prompt and max_tokens (as
  // far as the context allows) are set aside here.
  // Returns nothing when there is no room now (sequences or pages): keep it in the queue and try after a step.
  std::optional<SequenceId> add(const GenerationRequest& request);
  void check(const GenerationRequest& request) const;  // the throwing part alone

  // Ends the sequence. A forward pass that is under way is abandoned between two layers when nobody else needs it.
  // The next step reports it as cancelled. Unknown ids are ignored.
  void cancel(SequenceId sequence);

  // One forward pass; the events of all sequences that moved. Returns at once when there is nothing to do.
  std::vector<SequenceEvent> step();

  bool idle() const;
  std::int32_t running() const;
  std::uint64_t kv_bytes_used() const;  // by sequences that are there
  std::uint64_t kv_bytes_kept() const;  // further pages, of prefixes that may come again; they give way to sequences
  std::uint64_t kv_bytes_total() const;

  struct Counters {
    std::uint64_t prompt_tokens = 0;  // computed
    std::uint64_t reused_tokens = 0;  // of prompts, taken over from the cache
    std::uint64_t generated_tokens = 0;
    std::uint64_t steps = 0;
  };
  Counters counters() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace glmhost::generation
