#include "vscode-bridge/server/completion/completer.h"

#include <algorithm>
#include <utility>

namespace glmhost::completion {
namespace {

using namespace std::chrono_literals;

constexpr auto kCatchUp = 200ms;    // that an answer under way has to reach the typist
constexpr auto kPatience = 300ms;   // after which a part of an answer is better than none
constexpr auto kUnclaimed = 500ms;  // that a stream lives after its question was cancelled by typing along
constexpr auto kExplicitWait = 5s;
constexpr std::size_t kFarthest = 600;  // bytes typed since an answer's place

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         (static_cast<unsigned char>(c) & 0x80) != 0;
}

bool is_inside_word(const Situation& situation) {
  const std::string_view before = situation.line_before();
  const std::string_view behind = situation.line_behind();
  return !before.empty() && !behind.empty() && is_word(before.back()) && is_word(behind.front());
}

// One of them is the beginning of the other.
bool agree(std::string_view a, std::string_view b) {
  return a.substr(0, b.size()) == b.substr(0, a.size());
}

}  // namespace

std::optional<std::string> typed_since(const Situation& base, const Situation& now) {
  if (now.uri != base.uri || now.cursor < base.cursor || now.cursor - base.cursor > kFarthest) return std::nullopt;
  if (now.begin == base.begin) {
    if (!now.prefix.starts_with(base.prefix)) return std::nullopt;
    return now.prefix.substr(base.prefix.size());
  }
  // The window has moved on: what ended the earlier prefix must stand just before what was typed.
  const std::size_t most = std::min(now.prefix.size(), now.cursor - base.cursor);
  for (std::size_t typed = most + 1; typed-- > 0;) {
    const std::string_view before = std::string_view(now.prefix).substr(0, now.prefix.size() - typed);
    const std::size_t size = std::min({before.size(), base.prefix.size(), std::size_t{512}});
    if (size >= 64 &&
        before.substr(before.size() - size) == std::string_view(base.prefix).substr(base.prefix.size() - size))
      return now.prefix.substr(now.prefix.size() - typed);
  }
  return std::nullopt;
}

Completer::Completer(Model& model, OnAnswer on_answer, CompleterOptions options)
    : model_(model), on_answer_(std::move(on_answer)), options_(options) {}

Completer::StreamPtr Completer::make_stream(const Situation& situation, const std::vector<Piece>& context, bool ahead,
                                            int number, Clock::time_point now) {
  auto stream = std::make_unique<Stream>();
  stream->id = ++last_stream_;
  stream->base = situation;
  stream->context = context;
  stream->extent = choose_extent(situation);
  stream->started = now;
  ModelRequest request;
  request.situation = situation;
  request.context = context;
  request.one_line = stream->extent == Extent::line;
  request.max_tokens = request.one_line ? options_.line_tokens : options_.block_tokens;
  request.temperature = number == 0 ? 0.0f : 0.7f;
  request.seed = static_cast<std::uint64_t>(number);
  request.ahead = ahead;
  ++(ahead ? counters_.started_ahead : counters_.started);
  model_.start(stream->id, request);
  return stream;
}

void Completer::stop(StreamPtr& stream) {
  if (!stream) return;
  if (stream->running) {
    ++counters_.cancelled;
    model_.cancel(stream->id);
  }
  stream.reset();
}

void Completer::start(Place& place, Clock::time_point now) {
  Waiting& waiting = *place.waiting;
  waiting.start_at.reset();
  waiting.retry_at.reset();
  stop(place.stream);
  stop(place.ahead);
  place.drop_at.reset();
  const Question& question = waiting.question;
  place.stream = make_stream(question.situation, question.context, false, 0, now);
  if (!question.is_explicit) return;
  for (int i = 1; i < options_.alternatives; ++i) {
    place.alternatives.push_back(make_stream(question.situation, question.context, false, i, now));
  }
}

float Completer::confidence(const Stream& stream, std::size_t bytes) const {
  double sum = 0;
  std::size_t count = 0, end = 0;
  for (const Token& token : stream.tokens) {
    if (end >= bytes && count > 0) break;
    end += token.bytes;
    sum += static_cast<double>(token.logprob);
    ++count;
  }
  return count == 0 ? 0.0f : static_cast<float>(sum / static_cast<double>(count));
}

void Completer::finish_stream(Place&, Stream& stream, bool whole) {
  if (stream.running) {
    model_.cancel(stream.id);  // enough of it is there
    stream.running = false;
  }
  stream.finished = true;
  stream.result = finish(stream.raw, stream.extent, stream.base, true);
  if (!whole && stream.result.verdict == Verdict::shown) {
    // The budget of tokens ended it in the middle of a line: whole lines are left, if there are any.
    const std::size_t line = stream.result.text.rfind('\n');
    if (stream.extent == Extent::block && line != std::string::npos) stream.result.text.resize(line);
  }
  if (stream.result.verdict == Verdict::shown &&
      static_cast<double>(confidence(stream, stream.result.text.size())) < options_.least_logprob) {
    stream.result = {"", Verdict::low_confidence};
  }
  cache_.put(scope_of(stream.base) + stream.base.prefix, stream.result);
}

// What can be shown of an answer that is still growing: whole lines of a block; of a line, whole words.
std::string Completer::partial(const Stream& stream) const {
  std::string_view raw = stream.raw;
  if (stream.extent == Extent::block) {
    const std::size_t first = raw.find_first_not_of(" \t\n");
    const std::size_t line = raw.rfind('\n');
    if (line == std::string_view::npos || first == std::string_view::npos || line < first) return {};
    raw = raw.substr(0, line);
  } else {
    std::size_t end = raw.size();
    while (end > 0 && is_word(raw[end - 1])) --end;
    raw = raw.substr(0, end);
  }
  Finished result = finish(raw, stream.extent, stream.base, false);
  if (result.verdict != Verdict::shown) return {};
  if (static_cast<double>(confidence(stream, result.text.size())) < options_.least_logprob) return {};
  return result.text;
}

bool Completer::show(Place& place, const Question& question, const Situation& base, const std::string& text,
                     Source source, bool is_final, Clock::time_point now) {
  const std::optional<std::string> typed = typed_since(base, question.situation);
  if (!typed || text.size() <= typed->size() || !text.starts_with(*typed)) return false;
  const std::string rest = text.substr(typed->size());
  Placed placed = completion::place(rest, question.situation);
  if (trimmed(placed.insert).empty()) return false;
  const bool extends = place.shown && typed_since(place.shown->base, base) && text.starts_with(place.shown->text);
  if (!extends || text.size() > place.shown->text.size()) place.shown = Shown{base, text};
  switch (source) {
    case Source::typed_along:
      ++counters_.typed_along;
      break;
    case Source::stream:
      ++counters_.from_stream;
      break;
    case Source::cache:
      ++counters_.from_cache;
      break;
    case Source::model:
      ++counters_.from_model;
      break;
  }
  on_answer_({question.id, {std::move(placed)}, Verdict::shown, {}, source, question.situation.cursor});
  if (is_final) compute_ahead(place, question, rest, now);
  return true;
}

void Completer::compute_ahead(Place& place, const Question& question, const std::string& rest, Clock::time_point now) {
  const Situation& at = question.situation;
  if (!options_.ahead || question.is_explicit || !trimmed(at.line_behind()).empty()) return;
  Situation next = at;
  next.prefix += rest;
  next.cursor += rest.size();  // with \n as line ends; only compared with others of its kind
  if (place.ahead && place.ahead->base.prefix == next.prefix) return;
  if (place.stream && place.stream->running) return;
  for (const RadixCache::Found& found : cache_.find(scope_of(next) + next.prefix)) {
    if (found.length == scope_of(next).size() + next.prefix.size()) return;
  }
  stop(place.ahead);
  place.ahead = make_stream(next, question.context, true, 0, now);
}

// From the text shown, the answer under way, or the cache.
bool Completer::answer_known(Place& place, const Question& question, Clock::time_point now) {
  const Situation& at = question.situation;
  const std::string scope = scope_of(at);
  const bool same_scope = !place.shown || scope_of(place.shown->base) == scope;
  if (place.stream && scope_of(place.stream->base) == scope) {
    const Stream& stream = *place.stream;
    // A longer text than the one shown, of the same answer.
    const std::string text = stream.finished ? stream.result.text : partial(stream);
    const bool extends = !place.shown || text.starts_with(place.shown->text);
    if (!text.empty() && place.shown && extends && same_scope &&
        show(place, question, stream.base, text, Source::typed_along, stream.finished, now)) {
      return true;
    }
  }
  if (place.shown && same_scope) {
    const Shown shown = *place.shown;
    const bool is_final = !place.stream || place.stream->finished;
    if (show(place, question, shown.base, shown.text, Source::typed_along, is_final, now)) return true;
  }
  const std::string key = scope + at.prefix;
  for (const RadixCache::Found& found : cache_.find(key)) {
    if (found.length < scope.size() || key.size() - found.length > kFarthest) break;
    const std::string_view typed = std::string_view(key).substr(found.length);
    if (found.value.text.size() > typed.size() && found.value.text.starts_with(typed)) {
      Situation base = at;
      base.prefix.resize(at.prefix.size() - typed.size());
      base.cursor -= std::min(base.cursor, typed.size());
      if (show(place, question, base, found.value.text, Source::cache, true, now)) return true;
    }
    if (typed.empty() && found.value.text.empty() && !question.is_explicit) {
      ++counters_.nothing;
      on_answer_({question.id, {}, found.value.verdict, {}, Source::cache, at.cursor});
      return true;
    }
  }
  return false;
}

void Completer::ask(Question question, Clock::time_point now) {
  Place& place = places_[question.situation.uri];
  ++counters_.questions;
  if (place.waiting) give_up(place, Verdict::superseded);
  for (StreamPtr& stream : place.alternatives) stop(stream);
  place.alternatives.clear();
  if (is_inside_word(question.situation) && !question.is_explicit) {
    ++counters_.nothing;
    return on_answer_({question.id, {}, Verdict::in_word, {}, Source::typed_along, 0});
  }
  const bool is_explicit = question.is_explicit;
  if (!is_explicit && answer_known(place, question, now)) {
    place.drop_at.reset();
    return;
  }
  const Clock::time_point patience = now + (is_explicit ? Clock::duration(kExplicitWait) : Clock::duration(kPatience));
  place.waiting = Waiting{std::move(question), now, std::nullopt, patience, std::nullopt};
  if (is_explicit) {
    start(place, now);
    return;
  }
  const Situation& at = place.waiting->question.situation;
  const auto fits = [&](const StreamPtr& stream) {
    if (!stream || !stream->failure.empty() || scope_of(stream->base) != scope_of(at)) return false;
    const auto typed = typed_since(stream->base, at);
    if (!typed) return false;
    // An answer that has ended and was typed to its end has no more to give.
    return stream->finished ? stream->result.text.size() > typed->size() && stream->result.text.starts_with(*typed)
                            : agree(stream->raw, *typed);
  };
  if (!fits(place.stream) && fits(place.ahead)) {
    stop(place.stream);
    place.stream = std::move(place.ahead);
  }
  if (fits(place.stream)) {
    place.drop_at.reset();
    place.waiting->retry_at = now + kCatchUp;
    return try_answer(place, now);
  }
  stop(place.stream);
  // Inside a word that went another way than was foretold, the model knows no better until the word is whole.
  const std::string_view before = at.line_before();
  const bool in_word = before.size() > 1 && is_word(before.back()) && is_word(before[before.size() - 2]);
  place.waiting->start_at = now + (in_word ? place.rhythm.pause() : place.rhythm.wait());
  if (*place.waiting->start_at <= now) start(place, now);
}

void Completer::give_up(Place& place, Verdict verdict, std::string detail) {
  const QuestionId id = place.waiting->question.id;
  place.waiting.reset();
  ++(verdict == Verdict::superseded ? counters_.superseded : counters_.nothing);
  on_answer_({id, {}, verdict, std::move(detail), Source::model, 0});
}

void Completer::try_answer(Place& place, Clock::time_point now) {
  if (!place.waiting || !place.stream || place.waiting->start_at) return;
  if (place.waiting->question.is_explicit) return try_answer_explicit(place, now);
  Stream& stream = *place.stream;
  const Question& question = place.waiting->question;
  const Source source = stream.started < place.waiting->asked ? Source::stream : Source::model;
  if (!stream.finished) {
    if (now - place.waiting->asked < kPatience) return;
    const std::string text = partial(stream);
    const Question asked = question;
    if (!text.empty() && show(place, asked, stream.base, text, source, false, now)) place.waiting.reset();
    return;
  }
  if (!stream.failure.empty()) {
    const std::string failure = stream.failure;
    place.stream.reset();
    return give_up(place, Verdict::unavailable, failure);
  }
  if (source == Source::model) place.rhythm.latency(now - stream.started);
  const Question asked = question;
  if (show(place, asked, stream.base, stream.result.text, source, true, now)) {
    place.waiting.reset();
    return;
  }
  const auto typed = typed_since(stream.base, asked.situation);
  if (typed && typed->empty()) {
    const Verdict verdict = stream.result.verdict == Verdict::shown ? Verdict::nothing : stream.result.verdict;
    return give_up(place, verdict);
  }
  start(place, now);  // it ended before the typist, or somewhere else
}

void Completer::try_answer_explicit(Place& place, Clock::time_point now) {
  const bool is_late = now - place.waiting->asked >= kExplicitWait;
  const auto open = [](const StreamPtr& stream) { return stream && !stream->finished; };
  const bool any_open = open(place.stream) || std::any_of(place.alternatives.begin(), place.alternatives.end(), open);
  if (any_open && !is_late) return;
  const Question question = place.waiting->question;
  Answer answer{question.id, {}, Verdict::nothing, {}, Source::model, question.situation.cursor};
  std::string first;
  const auto add = [&](const Stream& stream) {
    if (!stream.failure.empty()) answer.detail = stream.failure;
    if (stream.result.verdict == Verdict::low_confidence) answer.verdict = Verdict::low_confidence;
    const std::string text = stream.finished ? stream.result.text : partial(stream);
    const Placed placed = completion::place(text, question.situation);
    if (trimmed(placed.insert).empty()) return;
    if (std::find(answer.items.begin(), answer.items.end(), placed) != answer.items.end()) return;
    if (first.empty()) first = text;
    answer.items.push_back(placed);
  };
  add(*place.stream);
  for (const StreamPtr& stream : place.alternatives) add(*stream);
  for (StreamPtr& stream : place.alternatives) stop(stream);
  place.alternatives.clear();
  if (answer.items.empty())
    return give_up(place, answer.detail.empty() ? answer.verdict : Verdict::unavailable, answer.detail);
  answer.verdict = Verdict::shown;
  place.shown = Shown{question.situation, first};
  place.waiting.reset();
  ++counters_.from_model;
  on_answer_(std::move(answer));
}

bool Completer::cancel(QuestionId id, Clock::time_point now) {
  for (auto& [uri, place] : places_) {
    if (!place.waiting || place.waiting->question.id != id) continue;
    // Editors cancel at each keystroke and ask again: somebody who types along will want this answer.
    const bool typed_on = place.last_change > place.waiting->asked;
    place.waiting.reset();
    for (StreamPtr& stream : place.alternatives) stop(stream);
    place.alternatives.clear();
    if (place.stream && !place.stream->finished) {
      if (typed_on) {
        place.drop_at = now + kUnclaimed;
      } else {
        stop(place.stream);
      }
    }
    return true;
  }
  return false;
}

void Completer::changed(const std::string& uri, std::size_t begin, std::size_t removed, std::string_view inserted,
                        Clock::time_point now) {
  const auto found = places_.find(uri);
  if (found == places_.end()) return;
  Place& place = found->second;
  place.last_change = now;
  if (removed == 0 && inserted.size() <= 4) place.rhythm.key(now);
  const char first = inserted.empty() ? '\0' : inserted.front() == '\r' ? '\n' : inserted.front();
  const auto diverges = [&](const Situation& base, std::string_view text) {
    if (begin < base.cursor) return true;
    const std::size_t typed = begin - base.cursor;
    return !inserted.empty() && typed < text.size() && text[typed] != first;
  };
  if (place.stream && !place.stream->finished && diverges(place.stream->base, place.stream->raw)) stop(place.stream);
  const bool leaves_shown = !place.shown || diverges(place.shown->base, place.shown->text);
  // What follows a text that is not being typed is of no use.
  if (place.ahead && leaves_shown && diverges(place.ahead->base, place.ahead->raw)) stop(place.ahead);
  if (place.stream && !place.waiting && !place.stream->finished && !place.drop_at) place.drop_at = now + kUnclaimed;
}

void Completer::closed(const std::string& uri) {
  const auto found = places_.find(uri);
  if (found == places_.end()) return;
  Place& place = found->second;
  if (place.waiting) give_up(place, Verdict::superseded);
  stop(place.stream);
  stop(place.ahead);
  for (StreamPtr& stream : place.alternatives) stop(stream);
  places_.erase(found);
}

Completer::Stream* Completer::find_stream(StreamId id, Place** where) {
  for (auto& [uri, place] : places_) {
    *where = &place;
    if (place.stream && place.stream->id == id) return place.stream.get();
    if (place.ahead && place.ahead->id == id) return place.ahead.get();
    for (const StreamPtr& stream : place.alternatives) {
      if (stream->id == id) return stream.get();
    }
  }
  return nullptr;
}

void Completer::stream_moved(Place& place, Stream& stream, Clock::time_point now) {
  if (place.stream.get() == &stream && place.waiting && place.waiting->retry_at) {
    const auto typed = typed_since(stream.base, place.waiting->question.situation);
    if (typed && !agree(stream.raw, *typed)) return start(place, now);
    if (typed && stream.raw.size() > typed->size()) place.waiting->retry_at.reset();
  }
  try_answer(place, now);
}

void Completer::text(StreamId id, std::string_view text, const std::vector<Token>& tokens, Clock::time_point now) {
  Place* place = nullptr;
  Stream* const stream = find_stream(id, &place);
  if (stream == nullptr || stream->finished) return;
  stream->raw += text;
  stream->tokens.insert(stream->tokens.end(), tokens.begin(), tokens.end());
  if (find_end(stream->raw, stream->extent, stream->base)) finish_stream(*place, *stream, true);
  stream_moved(*place, *stream, now);
}

void Completer::done(StreamId id, std::optional<std::string> failure, Clock::time_point now) {
  Place* place = nullptr;
  Stream* const stream = find_stream(id, &place);
  if (stream == nullptr || stream->finished) return;
  stream->running = false;
  if (failure) {
    stream->finished = true;
    stream->failure = std::move(*failure);
    stream->result = {"", Verdict::unavailable};
    if (stream == place->ahead.get()) {
      place->ahead.reset();
      return;
    }
  } else {
    finish_stream(*place, *stream, stream->tokens.size() < static_cast<std::size_t>(options_.block_tokens));
  }
  stream_moved(*place, *stream, now);
}

std::optional<Clock::time_point> Completer::next_wake() const {
  std::optional<Clock::time_point> next;
  const auto at = [&](Clock::time_point time) { next = next ? std::min(*next, time) : time; };
  for (const auto& [uri, place] : places_) {
    if (place.drop_at) at(*place.drop_at);
    if (!place.waiting) continue;
    const Waiting& waiting = *place.waiting;
    if (waiting.start_at) {
      at(*waiting.start_at);
      continue;
    }
    if (waiting.retry_at) at(*waiting.retry_at);
    if (waiting.patience_at) at(*waiting.patience_at);
  }
  return next;
}

void Completer::wake(Clock::time_point now) {
  for (auto& [uri, place] : places_) {
    if (place.drop_at && *place.drop_at <= now) {
      place.drop_at.reset();
      if (!place.waiting && place.stream && !place.stream->finished) stop(place.stream);
    }
    if (!place.waiting) continue;
    if (place.waiting->start_at && *place.waiting->start_at <= now) {
      start(place, now);
    } else if (place.waiting->retry_at && *place.waiting->retry_at <= now) {
      // The answer under way is behind what was typed: from here it is nearer.
      start(place, now);
    } else if (place.waiting->patience_at && *place.waiting->patience_at <= now) {
      place.waiting->patience_at.reset();
      try_answer(place, now);
    }
  }
}

std::size_t Completer::running() const {
  std::size_t count = 0;
  const auto is_running = [](const StreamPtr& stream) { return stream && stream->running; };
  for (const auto& [uri, place] : places_) {
    count += (is_running(place.stream) ? 1 : 0) + (is_running(place.ahead) ? 1 : 0);
    count += static_cast<std::size_t>(std::count_if(place.alternatives.begin(), place.alternatives.end(), is_running));
  }
  return count;
}

}  // namespace glmhost::completion
