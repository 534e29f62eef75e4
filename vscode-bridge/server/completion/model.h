// What the completer asks of a model, and who is told of its answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vscode-bridge/server/completion/context_ring.h"
#include "vscode-bridge/server/completion/situation.h"

namespace glmhost::completion {

using StreamId = std::uint64_t;

struct ModelRequest {
  Situation situation;
  std::vector<Piece> context;
  bool one_line = false;
  std::int32_t max_tokens = 96;
  float temperature = 0;
  std::uint64_t seed = 0;
  bool ahead = false;  // nobody waits for it: everything else goes first
};

struct Token {
  std::size_t bytes = 0;  // of its text
  float logprob = 0;
};

class Model {
 public:
  virtual ~Model() = default;
  // Neither waits. What comes back is given to the completer later, on the same thread: text(), then done() once.
  virtual void start(StreamId id, const ModelRequest& request) = 0;
  virtual void cancel(StreamId id) = 0;
};

}  // namespace glmhost::completion
