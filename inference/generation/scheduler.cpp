#include "inference/generation/scheduler.h"

#include <algorithm>
#include <chrono>
#include <unordered_set>

#include "inference/error.h"
#include "inference/generation/cancellations.h"
#include "inference/generation/piece_policy.h"
#include "inference/generation/request_check.h"
#include "inference/generation/running.h"

namespace glmhost::generation {

namespace {

constexpr std::uint64_t kDefaultKvBytes = std::uint64_t{1} << 30;

std::int64_t pool_pages(const architectures::Model& model, const SchedulerOptions& options) {
  const std::uint64_t page = model.page_bytes();
  if (options.kv_bytes > 0) {
    if (options.kv_bytes < page) {
      throw Error(ErrorKind::out_of_memory, "A cache of " + std::to_string(options.kv_bytes) +
                                                " bytes does not hold even " + std::to_string(kernels::kPageTokens) +
                                                " tokens of this model, which need " + std::to_string(page) +
                                                " bytes. Set a larger kv_bytes.");
    }
    return static_cast<std::int64_t>(options.kv_bytes / page);
  }
  const std::int64_t context = pages_for(model.hyperparameters().context_length);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(kDefaultKvBytes / page), 1, context);
}

SequenceEvent event_of(const Running& sequence) {
  SequenceEvent event;
  event.sequence = sequence.id;
  event.reused_prompt_tokens = sequence.reused;
  return event;
}

void check_options(const SchedulerOptions& options) {
  const auto check = [](const char* field, std::int64_t value, std::int64_t most) {
    if (value >= 1 && value <= most) return;
    throw Error(ErrorKind::bad_argument, std::string("The value of ") + field + " is " + std::to_string(value) +
                                             ", but it must be from 1 to " + std::to_string(most) + ".");
  };
  check("max_sequences", options.max_sequences, 4096);
  check("prompt_piece", options.prompt_piece, 65536);
}

}  // namespace

struct Scheduler::State {
  State(const architectures::Model& the_model, const tokenizer::Tokenizer& the_tokenizer, kernels::ThreadPool& the_pool,
        const SchedulerOptions& the_options)
      : model(the_model),
        tokenizer(the_tokenizer),
        threads(the_pool),
        options((check_options(the_options), the_options)),
        ledger(the_model.page_bytes(), pool_pages(the_model, the_options)),
        context(std::min(the_model.hyperparameters().context_length, ledger.pages() * kernels::kPageTokens)),
        allowed_vocabulary(static_cast<std::int32_t>(
            std::min<std::int64_t>(the_tokenizer.vocabulary_size(), the_model.hyperparameters().vocabulary))),
        workspace(the_model.make_workspace(the_options.max_sequences + the_options.prompt_piece)) {
    policy.most = the_options.prompt_piece;
  }
  ~State() {
    for (const auto& sequence : sequences) ledger.release(sequence->cache);
  }

  std::int64_t pages_needed(const GenerationRequest& request) const;
  void spare(Running& sequence, std::int64_t tokens);
  bool reserve(Running& sequence);
  bool reserve_by_parking(Running& sequence);
  void unpark();
  void report_cancelled(std::vector<SequenceEvent>& events);
  void plan_pass();
  bool waits_for_page(const Running& sequence) const;
  void add_rows(bool bulk);
  Choice choose(Running& sequence, std::span<const float> row) const;
  void sample_outputs(std::vector<SequenceEvent>& events);
  void append(Running& sequence, SequenceEvent& event, std::int32_t token);
  SequenceEvent accept(Running& sequence, Choice choice);
  void finish(Running& sequence, SequenceEvent& event, FinishReason reason);
  void forget_finished();
  std::int64_t occupied() const;
  bool any_interactive() const;

  const architectures::Model& model;
  const tokenizer::Tokenizer& tokenizer;
  kernels::ThreadPool& threads;
  SchedulerOptions options;
  CacheLedger ledger;
  std::int64_t context;
  std::int32_t allowed_vocabulary;
  std::unique_ptr<architectures::Model::Workspace> workspace;
  PiecePolicy policy;
  TokenCost cost;
  Counters counters;

  std::vector<std::unique_ptr<Running>> sequences;  // in the order they came
  SequenceId next_id = 1;
  Cancellations cancellations;

  // The pass being built or run.
  struct Share {
    Running* sequence;
    std::int64_t count;  // of its pending tokens
    bool output;         // its last token's logits are wanted
  };
  std::vector<Share> shares;
  std::vector<architectures::BatchRow> rows;
  std::vector<Running*> outputs;  // whose logits are wanted, in the order of rows
  std::vector<SequenceId> ids;
  std::vector<float> logits;
  std::unordered_set<SequenceId> finished;
};

std::int64_t Scheduler::State::pages_needed(const GenerationRequest& request) const {
  const std::int64_t most = static_cast<std::int64_t>(request.prompt.size()) + request.max_tokens;
  return pages_for(std::min(most, context));
}

std::int64_t Scheduler::State::occupied() const {
  return std::count_if(sequences.begin(), sequences.end(), [](const auto& s) { return !s->parked(); });
}

bool Scheduler::State::any_interactive() const {
  return std::any_of(sequences.begin(), sequences.end(), [](const auto& s) { return s->interactive(); });
}

void Scheduler::State::spare(Running& sequence, std::int64_t tokens) {
  counters.reused_tokens += static_cast<std::uint64_t>(tokens);
  // What a parked answer gets back is no saving.
  if (sequence.generated() == 0) sequence.reused += tokens;
}

// Takes over what is known of the sequence's tokens and has the rest of its pages set aside. Nothing is held when that
// fails.
bool Scheduler::State::reserve(Running& sequence) {
  if (occupied() >= options.max_sequences) return false;
  const std::int64_t spared = ledger.adopt(sequence.cache, sequence.tokens);
  if (ledger.promise(sequence.cache, pages_needed(sequence.request))) {
    spare(sequence, spared);
    return true;
  }
  ledger.release(sequence.cache);
  return false;
}

// For an interactive request: takes their cache from batch sequences, the youngest first, until it fits. Theirs is
// computed again later, and their answers go on as if nothing had happened. Takes nothing when that would not help.
bool Scheduler::State::reserve_by_parking(Running& sequence) {
  if (reserve(sequence)) return true;
  std::vector<const CacheHolding*> keepers;
  for (const auto& other : sequences) {
    if (other->interactive()) keepers.push_back(&other->cache);
  }
  ledger.adopt(sequence.cache, sequence.tokens);
  const bool would_fit = static_cast<std::int32_t>(keepers.size()) < options.max_sequences &&
                         ledger.could_promise(sequence.cache, pages_needed(sequence.request), keepers);
  ledger.release(sequence.cache);
  if (!would_fit) return false;
  for (auto other = sequences.rbegin(); other != sequences.rend(); ++other) {
    if ((*other)->interactive() || (*other)->parked()) continue;
    ledger.release((*other)->cache);
    if (reserve(sequence)) return true;
  }
  return false;
}

// Oldest first, and only while no interactive sequence is there: batch sequences would rest anyway.
void Scheduler::State::unpark() {
  if (any_interactive()) return;
  for (const auto& sequence : sequences) {
    if (sequence->parked() && !reserve(*sequence)) return;
  }
}

void Scheduler::State::finish(Running& sequence, SequenceEvent& event, FinishReason reason) {
  event.finished = reason;
  ledger.release(sequence.cache);
  cancellations.remove(sequence.id);
  finished.insert(sequence.id);
}

void Scheduler::State::forget_finished() {
  if (finished.empty()) return;
  std::erase_if(sequences, [this](const auto& sequence) { return finished.contains(sequence->id); });
  finished.clear();
}

void Scheduler::State::report_cancelled(std::vector<SequenceEvent>& events) {
  for (const auto& sequence : sequences) {
    if (finished.contains(sequence->id) || !cancellations.cancelled(sequence->id)) continue;
    SequenceEvent event = event_of(*sequence);
    finish(*sequence, event, FinishReason::cancelled);
    events.push_back(std::move(event));
  }
  forget_finished();
}

// Whether the page that the sequence would begin now is being computed by one that is planned already.
bool Scheduler::State::waits_for_page(const Running& sequence) const {
  const CacheHolding& own = sequence.cache;
  const auto begin = static_cast<std::ptrdiff_t>(own.full.size()) * kernels::kPageTokens;
  const auto end = begin + kernels::kPageTokens;
  if (own.computed != begin || own.shareable < end) return false;
  if (static_cast<std::ptrdiff_t>(sequence.tokens.size()) <= end) return false;
  return std::any_of(shares.begin(), shares.end(), [&](const Share& share) {
    const Running& other = *share.sequence;
    return other.cache.full == own.full && other.cache.shareable >= end &&
           static_cast<std::ptrdiff_t>(other.tokens.size()) >= end &&
           std::equal(sequence.tokens.begin() + begin, sequence.tokens.begin() + end, other.tokens.begin() + begin);
  });
}

// Every running answer's next token, then prompts in the order they came as far as the piece goes.
void Scheduler::State::plan_pass() {
  shares.clear();
  rows.clear();
  outputs.clear();
  ids.clear();
  const bool interactive_only = any_interactive();
  const auto takes_part = [&](const Running& sequence) {
    return !sequence.parked() && (sequence.interactive() || !interactive_only);
  };
  for (const auto& sequence : sequences) {
    if (takes_part(*sequence) && sequence->answering()) shares.push_back({sequence.get(), 1, true});
  }
  std::int64_t room = policy.compute(cost.seconds_per_token(), model.hyperparameters().layers, !shares.empty());
  for (const auto& sequence : sequences) {
    if (room == 0) break;
    if (!takes_part(*sequence) || sequence->answering()) continue;
    spare(*sequence, ledger.adopt(sequence->cache, sequence->tokens));
    if (waits_for_page(*sequence)) continue;
    const std::int64_t count = std::min(room, sequence->pending());
    shares.push_back({sequence.get(), count, count == sequence->pending()});
    room -= count;
  }
}

// With a form, the choice is accepted by its follower.
Choice Scheduler::State::choose(Running& sequence, std::span<const float> row) const {
  const auto draw = [&](std::span<const constraints::MaskWord> mask) {
    return sample(row, allowed_vocabulary, sequence.request.sampling, sequence.tokens, sequence.generated(), mask);
  };
  if (!sequence.form) return draw({});
  const auto first = sequence.form->mask();
  if (std::all_of(first.begin(), first.end(), [](constraints::MaskWord word) { return word == 0; })) {
    throw Error(ErrorKind::bad_argument,
                "The demanded form wants a character next that the model's vocabulary has no token for: demand another "
                "form, or take another model.");
  }
  Choice choice = draw(first);
  if (sequence.form->accept(choice.token)) return choice;
  const auto allowed = sequence.form->mask();
  std::vector<constraints::MaskWord> mask(allowed.begin(), allowed.end());
  do {
    mask[static_cast<std::size_t>(choice.token) / 64] &= ~(constraints::MaskWord{1} << (choice.token % 64));
    choice = draw(mask);
  } while (!sequence.form->accept(choice.token));
  return choice;
}

void Scheduler::State::add_rows(bool bulk) {
  for (const Share& share : shares) {
    Running& sequence = *share.sequence;
    const std::int64_t end = sequence.cache.computed + share.count;
    for (std::int64_t position = sequence.cache.computed; position < end; ++position) {
      if (architectures::is_bulk(position, std::ssize(sequence.request.prompt)) != bulk) continue;
      const bool output = share.output && position + 1 == end;
      rows.push_back(
          {sequence.tokens[static_cast<std::size_t>(position)], position, sequence.cache.pages, output, bulk});
      if (output) outputs.push_back(&sequence);
    }
  }
}

void Scheduler::State::sample_outputs(std::vector<SequenceEvent>& events) {
  struct Outcome {
    Choice choice;
    std::string failure;
  };
  std::vector<Outcome> outcomes(outputs.size());
  const auto vocabulary = static_cast<std::size_t>(model.hyperparameters().vocabulary);
  const auto body = [&](std::int64_t begin, std::int64_t end, int) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      Running& sequence = *outputs[i];
      try {
        outcomes[i].choice = choose(sequence, std::span(logits).subspan(i * vocabulary, vocabulary));
      } catch (const std::exception& error) {
        outcomes[i].failure = error.what();
      }
    }
  };
  threads.for_range(static_cast<std::int64_t>(outputs.size()), 1, body);

  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Running& sequence = *outputs[i];
    if (cancellations.cancelled(sequence.id)) continue;  // reported as cancelled, without a last word
    if (!outcomes[i].failure.empty()) {
      SequenceEvent event = event_of(sequence);
      event.failure = outcomes[i].failure;
      finish(sequence, event, FinishReason::failed);
      events.push_back(std::move(event));
      continue;
    }
    events.push_back(accept(sequence, std::move(outcomes[i].choice)));
  }
}

void Scheduler::State::append(Running& sequence, SequenceEvent& event, std::int32_t token) {
  event.tokens.push_back(token);
  event.text += sequence.stops.push(sequence.characters.push(tokenizer.bytes(token)));
}

SequenceEvent Scheduler::State::accept(Running& sequence, Choice choice) {
  SequenceEvent event = event_of(sequence);
  for (; sequence.opening > 0; --sequence.opening) {
    ++counters.generated_tokens;
    append(sequence, event, sequence.tokens[sequence.tokens.size() - sequence.opening]);
  }
  const auto end_of_text = [&] {
    std::string rest = sequence.stops.push(sequence.characters.finish());
    return rest + sequence.stops.finish();
  };
  if (tokenizer.is_end_of_generation(choice.token)) {
    ++counters.generated_tokens;
    event.text += end_of_text();
    finish(sequence, event, FinishReason::stop);
    return event;
  }
  std::vector<std::int32_t> tokens{choice.token};
  if (sequence.jumps) {
    const std::int64_t room = std::min(sequence.request.max_tokens - sequence.generated(),
                                       context - static_cast<std::int64_t>(sequence.tokens.size()));
    tokens = sequence.form->jump_ahead(choice.token, static_cast<std::size_t>(room));
  }
  counters.generated_tokens += tokens.size();
  for (const std::int32_t token : tokens) {
    sequence.tokens.push_back(token);
    append(sequence, event, token);
  }
  if (sequence.request.sampling.logprobs > 0) event.choices.push_back(std::move(choice));

  std::optional<FinishReason> reason;
  if (sequence.stops.stopped() || (sequence.form && sequence.form->complete())) {
    reason = FinishReason::stop;
  } else if (sequence.generated() >= sequence.request.max_tokens) {
    reason = FinishReason::length;
  } else if (static_cast<std::int64_t>(sequence.tokens.size()) >= context) {
    reason = FinishReason::context;
  }
  if (reason) {
    event.text += end_of_text();
    finish(sequence, event, *reason);
  }
  return event;
}

Scheduler::Scheduler(const architectures::Model& model, const tokenizer::Tokenizer& tokenizer,
                     kernels::ThreadPool& pool, const SchedulerOptions& options)
    : state_(std::make_unique<State>(model, tokenizer, pool, options)) {}

Scheduler::~Scheduler() = default;

std::int64_t Scheduler::context_tokens() const {
  return state_->context;
}

void Scheduler::check(const GenerationRequest& request) const {
  check_request(request, state_->model.hyperparameters(), state_->context);
}

std::optional<SequenceId> Scheduler::add(const GenerationRequest& request) {
  State& s = *state_;
  check(request);
  auto sequence = std::make_unique<Running>(s.next_id, request, s.tokenizer, s.options.jump_ahead);
  if (request.priority == Priority::interactive) {
    if (!s.reserve_by_parking(*sequence)) return std::nullopt;
  } else {
    // Those that were parked go first.
    const bool parked = std::any_of(s.sequences.begin(), s.sequences.end(), [](const auto& x) { return x->parked(); });
    if (parked || !s.reserve(*sequence)) return std::nullopt;
  }
  ++s.next_id;
  s.cancellations.add(sequence->id);
  s.sequences.push_back(std::move(sequence));
  return s.sequences.back()->id;
}

void Scheduler::cancel(SequenceId sequence) {
  state_->cancellations.cancel(sequence);
}

std::vector<SequenceEvent> Scheduler::step() {
  State& s = *state_;
  std::vector<SequenceEvent> events;
  s.report_cancelled(events);
  s.unpark();
  s.plan_pass();

  for (auto share = s.shares.begin(); share != s.shares.end();) {
    Running& sequence = *share->sequence;
    if (!s.ledger.take(sequence.cache, sequence.cache.computed + share->count)) {
      SequenceEvent event = event_of(sequence);
      event.failure =
          "The system has no memory left for the cache of this answer: close other programs, or set a "
          "smaller kv_bytes so that fewer requests run at once.";
      s.finish(sequence, event, FinishReason::failed);
      events.push_back(std::move(event));
      share = s.shares.erase(share);
      continue;
    }
    s.ids.push_back(sequence.id);
    ++share;
  }
  if (s.shares.empty()) {
    s.forget_finished();
    return events;
  }
  s.add_rows(true);
  s.add_rows(false);
  const std::size_t needed = s.outputs.size() * static_cast<std::size_t>(s.model.hyperparameters().vocabulary);
  if (s.logits.size() < needed) s.logits.resize(needed);

  const auto start = std::chrono::steady_clock::now();
  s.cancellations.begin_pass(s.ids);
  const bool complete = s.model.forward(s.rows, s.logits.data(), *s.workspace, s.threads, s.cancellations.abandon());
  s.cancellations.end_pass();
  if (complete) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    s.cost.record(static_cast<std::int64_t>(s.rows.size()), took.count());
    ++s.counters.steps;
    for (const State::Share& share : s.shares) {
      Running& sequence = *share.sequence;
      const auto prompt = static_cast<std::int64_t>(sequence.request.prompt.size());
      s.counters.prompt_tokens +=
          static_cast<std::uint64_t>(std::clamp<std::int64_t>(prompt - sequence.cache.computed, 0, share.count));
      s.ledger.record(sequence.cache, sequence.tokens, share.count);
    }
    s.sample_outputs(events);
  }
  s.report_cancelled(events);
  return events;
}

bool Scheduler::idle() const {
  return state_->sequences.empty();
}
std::int32_t Scheduler::running() const {
  return static_cast<std::int32_t>(state_->sequences.size());
}

std::uint64_t Scheduler::kv_bytes_used() const {
  return static_cast<std::uint64_t>(state_->ledger.pages_in_use()) * state_->ledger.page_bytes();
}
std::uint64_t Scheduler::kv_bytes_kept() const {
  return static_cast<std::uint64_t>(state_->ledger.pages_kept()) * state_->ledger.page_bytes();
}
std::uint64_t Scheduler::kv_bytes_total() const {
  return static_cast<std::uint64_t>(state_->ledger.pages()) * state_->ledger.page_bytes();
}

Scheduler::Counters Scheduler::counters() const {
  return state_->counters;
}

}  // namespace glmhost::generation
