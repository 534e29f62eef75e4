// What the language server's one thread is told by the others: input, the daemon, files read in the background.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "vscode-bridge/server/completion/model.h"
#include "vscode-bridge/server/completion/typing_rhythm.h"
#include "vscode-bridge/server/lsp/frame_reader.h"

namespace glmhost::session {

using completion::Clock;

struct InputEnded {};

struct StreamText {
  completion::StreamId id = 0;
  std::string text;
  std::vector<completion::Token> tokens;
};

struct StreamDone {
  completion::StreamId id = 0;
  std::optional<std::string> failure;
  std::uint32_t prompt_tokens = 0;
  std::uint32_t cached_tokens = 0;
  std::uint32_t generated_tokens = 0;
  double prompt_ms = 0;
  double decode_ms = 0;
};

struct DaemonState {
  enum class Kind { unknown, no_daemon, idle, loading, ready, failed };
  Kind kind = Kind::unknown;
  std::string message;  // a sentence
  std::string model;
  double load_fraction = 0;
  std::uint32_t waiting = 0;  // requests of all clients
  std::uint32_t running = 0;

  bool operator==(const DaemonState&) const = default;
};

struct NeighboursRead {
  std::vector<completion::Piece> pieces;
};

using Event = std::variant<lsp::Frame, InputEnded, StreamText, StreamDone, DaemonState, NeighboursRead>;

// Any thread may post; one takes.
class EventQueue {
 public:
  void post(Event event) {
    {
      const std::lock_guard lock(mutex_);
      events_.push_back(std::move(event));
    }
    wake_.notify_one();
  }

  // Nothing when `until` has come first.
  std::optional<Event> take(std::optional<Clock::time_point> until) {
    std::unique_lock lock(mutex_);
    const auto has_event = [this] { return !events_.empty(); };
    if (until) {
      if (!wake_.wait_until(lock, *until, has_event)) return std::nullopt;
    } else {
      wake_.wait(lock, has_event);
    }
    Event event = std::move(events_.front());
    events_.pop_front();
    return event;
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Event> events_;
};

}  // namespace glmhost::session
