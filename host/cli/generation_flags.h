// The flags that `glm run` and `glm chat` share: which model answers, and how.
#pragma once

#include <string>

#include "host/cli/command.h"
#include "host/protocol/messages.h"

namespace glmhost::cli {

class GenerationFlags {
 public:
  void add_to(Command& command);

  // A request without messages and prompt. Call after Command::parse.
  protocol::Request request() const;

  const std::string& system() const { return system_; }
  bool show_thinking() const { return show_thinking_; }

 private:
  protocol::Request request_;
  std::string system_;
  std::string thinking_;
  bool show_thinking_ = false;
  bool no_memo_ = false;
  std::int32_t deadline_s_ = 0;
};

}  // namespace glmhost::cli
