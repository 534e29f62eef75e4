// Completions that keep up with the typist. For each document there is one answer being computed at most, and the one
// shown; a question is answered from what is known wherever that fits:
//
//   1. what is typed along the text shown is answered from it
//   2. an answer being computed that still fits is waited for, not started anew
//   3. places that were visited before are answered from the cache
//   4. else the model is asked, after a pause that follows the typing rhythm
//
// When a text is shown, the one that would follow it is computed ahead. A text that was shown and still fits is only
// ever extended. Nothing here waits or locks: time is given, and the caller wakes it at next_wake().
//
// Not thread-safe: one thread calls everything, and the Model and the Answers are called on it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vscode-bridge/server/completion/finish.h"
#include "vscode-bridge/server/completion/model.h"
#include "vscode-bridge/server/completion/radix_cache.h"
#include "vscode-bridge/server/completion/typing_rhythm.h"

namespace glmhost::completion {

using QuestionId = std::uint64_t;

struct Question {
  QuestionId id = 0;
  Situation situation;
  std::vector<Piece> context;
  bool is_explicit = false;  // the user pressed a key for it: no pause, several answers
};

// How the answer came about.
enum class Source { typed_along, stream, cache, model };

struct Answer {
  QuestionId id = 0;
  std::vector<Placed> items;  // the best first; empty: see verdict
  Verdict verdict = Verdict::shown;
  std::string detail;  // of Verdict::unavailable
  Source source = Source::model;
  std::size_t cursor = 0;  // the question's
};

struct CompleterOptions {
  double least_logprob = -1.6;  // mean over the tokens shown
  bool ahead = true;
  std::int32_t line_tokens = 40;
  std::int32_t block_tokens = 128;
  int alternatives = 3;  // of an explicit question
};

struct CompleterCounters {
  std::uint64_t questions = 0;
  std::uint64_t typed_along = 0;  // answered without work of the model
  std::uint64_t from_stream = 0;  // with work that was under way
  std::uint64_t from_cache = 0;
  std::uint64_t from_model = 0;
  std::uint64_t nothing = 0;
  std::uint64_t superseded = 0;
  std::uint64_t started = 0;
  std::uint64_t started_ahead = 0;
  std::uint64_t cancelled = 0;  // of these, before their end
};

class Completer {
 public:
  using OnAnswer = std::function<void(Answer)>;
  Completer(Model& model, OnAnswer on_answer, CompleterOptions options = {});

  void set_options(const CompleterOptions& options) { options_ = options; }

  void ask(Question question, Clock::time_point now);
  // The editor no longer wants the answer; none is given. False when it has been given.
  bool cancel(QuestionId id, Clock::time_point now);

  // The document changed: `begin` and `removed` in bytes of the text before.
  void changed(const std::string& uri, std::size_t begin, std::size_t removed, std::string_view inserted,
               Clock::time_point now);
  void closed(const std::string& uri);

  void text(StreamId id, std::string_view text, const std::vector<Token>& tokens, Clock::time_point now);
  void done(StreamId id, std::optional<std::string> failure, Clock::time_point now);

  std::optional<Clock::time_point> next_wake() const;
  void wake(Clock::time_point now);

  const CompleterCounters& counters() const { return counters_; }
  std::size_t running() const;  // streams that the model works on

 private:
  // One answer of the model.
  struct Stream {
    StreamId id = 0;
    Situation base;
    std::vector<Piece> context;
    Extent extent = Extent::line;
    std::string raw;
    std::vector<Token> tokens;
    bool running = true;    // in the model
    bool finished = false;  // `result` is final
    Finished result;
    std::string failure;
    Clock::time_point started{};
  };
  using StreamPtr = std::unique_ptr<Stream>;
  struct Shown {
    Situation base;
    std::string text;
  };
  struct Waiting {
    Question question;
    Clock::time_point asked{};
    std::optional<Clock::time_point> start_at;     // the pause is not over
    std::optional<Clock::time_point> patience_at;  // when a part of an answer will do
    std::optional<Clock::time_point> retry_at;     // when an answer under way must have caught up
  };
  struct Place {  // one document
    std::optional<Waiting> waiting;
    StreamPtr stream;
    StreamPtr ahead;
    std::vector<StreamPtr> alternatives;
    std::optional<Shown> shown;
    std::optional<Clock::time_point> drop_at;  // the stream, unless somebody asks for it
    Clock::time_point last_change{};
    TypingRhythm rhythm;
  };

  void start(Place& place, Clock::time_point now);
  StreamPtr make_stream(const Situation& situation, const std::vector<Piece>& context, bool ahead, int number,
                        Clock::time_point now);
  void stop(StreamPtr& stream);
  void finish_stream(Place& place, Stream& stream, bool whole);
  Stream* find_stream(StreamId id, Place** place);
  void stream_moved(Place& place, Stream& stream, Clock::time_point now);
  bool answer_known(Place& place, const Question& question, Clock::time_point now);
  void try_answer(Place& place, Clock::time_point now);
  void try_answer_explicit(Place& place, Clock::time_point now);
  bool show(Place& place, const Question& question, const Situation& base, const std::string& text, Source source,
            bool is_final, Clock::time_point now);
  void give_up(Place& place, Verdict verdict, std::string detail = {});
  void compute_ahead(Place& place, const Question& question, const std::string& rest, Clock::time_point now);
  float confidence(const Stream& stream, std::size_t bytes) const;
  std::string partial(const Stream& stream) const;

  Model& model_;
  OnAnswer on_answer_;
  CompleterOptions options_;
  std::map<std::string, Place> places_;
  RadixCache cache_{256};
  StreamId last_stream_ = 0;
  CompleterCounters counters_;
};

// What was typed between two situations of one document, when the later one only goes on from the earlier. Nothing when
// it does not.
std::optional<std::string> typed_since(const Situation& base, const Situation& now);

}  // namespace glmhost::completion
