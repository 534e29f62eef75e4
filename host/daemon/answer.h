// An answer while it grows, and how much of it each reader has seen.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/protocol/messages.h"
#include "inference/chat/template.h"
#include "inference/chat/tool_calls.h"

namespace glmhost::daemon {

using TokenLogprobs = std::vector<protocol::TokenProbability>;  // of one token; chosen first

class Answer {
 public:
  Answer() = default;
  // With a splitter the text is taken apart into reasoning and content; without one all of it is content. With a parser
  // calls of tools are taken out of the content.
  explicit Answer(std::optional<chat::ReasoningSplitter> splitter,
                  std::optional<chat::ToolCallParser> parser = std::nullopt)
      : splitter_(std::move(splitter)), parser_(std::move(parser)) {}
  // One that is already whole.
  Answer(std::string content, std::string reasoning, std::vector<TokenLogprobs> logprobs,
         std::vector<protocol::ToolCall> tool_calls = {});

  // text: whole characters. logprobs: one entry for each new token, or none at all where nobody asked.
  void add(std::string_view text, std::vector<TokenLogprobs> logprobs);
  void end();  // what the splitter held back

  // The same answer is computed once more from its beginning, which gives the same text: what readers have is skipped.
  void restart();

  const std::string& content() const { return content_; }
  const std::string& reasoning() const { return reasoning_; }
  const std::vector<TokenLogprobs>& logprobs() const { return logprobs_; }
  const std::vector<protocol::ToolCall>& tool_calls() const { return tool_calls_; }
  // Which of the calls began or changed, one after the other.
  const std::vector<std::size_t>& tool_call_changes() const { return changes_; }

 private:
  void append(const chat::ReasoningSplitter::Delta& delta);
  void append_content(std::string_view content);
  void append(chat::ToolCallParser::Delta delta);

  std::optional<chat::ReasoningSplitter> splitter_;
  std::optional<chat::ToolCallParser> parser_;
  std::string content_, reasoning_;
  std::vector<TokenLogprobs> logprobs_;
  std::vector<protocol::ToolCall> tool_calls_;
  std::vector<std::size_t> changes_;
  std::size_t raw_bytes_ = 0;   // that came in
  std::size_t skip_bytes_ = 0;  // of what comes in, because it came before
  std::size_t skip_tokens_ = 0;
};

// What one reader has been sent.
struct Cursor {
  std::size_t content = 0;
  std::size_t reasoning = 0;
  std::size_t logprobs = 0;
  std::size_t tool_call_changes = 0;
};

// Everything that is new to the reader, and the cursor moved behind it; nothing when nothing is.
std::optional<protocol::Delta> next_delta(const Answer& answer, Cursor& cursor);

}  // namespace glmhost::daemon
