#include "host/daemon/answer.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

namespace glmhost::daemon {

Answer::Answer(std::string content, std::string reasoning, std::vector<TokenLogprobs> logprobs,
               std::vector<protocol::ToolCall> tool_calls)
    : content_(std::move(content)),
      reasoning_(std::move(reasoning)),
      logprobs_(std::move(logprobs)),
      tool_calls_(std::move(tool_calls)),
      changes_(tool_calls_.size()) {
  std::iota(changes_.begin(), changes_.end(), std::size_t{0});
}

void Answer::append(const chat::ReasoningSplitter::Delta& delta) {
  reasoning_ += delta.reasoning;
  append_content(delta.content);
}

void Answer::append_content(std::string_view content) {
  if (!parser_) {
    content_ += content;
  } else if (!content.empty()) {
    append(parser_->push(content));
  }
}

void Answer::append(chat::ToolCallParser::Delta delta) {
  content_ += delta.content;
  for (const chat::ToolCallParser::Event& event : delta.events) {
    const chat::ToolCallResult& call = parser_->calls()[event.call];
    tool_calls_.resize(std::max(tool_calls_.size(), event.call + 1));
    protocol::ToolCall& told = tool_calls_[event.call];
    told = {.id = call.id,
            .name = call.name,
            .arguments = call.arguments.dump(-1, ' ', false, chat::Json::error_handler_t::replace),
            .status = "open",
            .problem = {},
            .source = {}};
    if (event.kind == chat::ToolCallParser::Event::Kind::finished) {
      told.status = name(call.status);
      told.problem = call.problem;
      told.source = call.source;
    }
    changes_.push_back(event.call);
  }
}

void Answer::add(std::string_view text, std::vector<TokenLogprobs> logprobs) {
  const std::size_t known_tokens = std::min(skip_tokens_, logprobs.size());
  skip_tokens_ -= known_tokens;
  std::move(logprobs.begin() + static_cast<std::ptrdiff_t>(known_tokens), logprobs.end(),
            std::back_inserter(logprobs_));
  const std::size_t known_bytes = std::min(skip_bytes_, text.size());
  skip_bytes_ -= known_bytes;
  text.remove_prefix(known_bytes);
  if (text.empty()) return;
  raw_bytes_ += text.size();
  if (splitter_) {
    append(splitter_->push(text));
  } else {
    append_content(text);
  }
}

void Answer::end() {
  if (splitter_) append(splitter_->finish());
  if (parser_) append(parser_->finish());
}

void Answer::restart() {
  skip_bytes_ = raw_bytes_;
  skip_tokens_ = logprobs_.size();
}

std::optional<protocol::Delta> next_delta(const Answer& answer, Cursor& cursor) {
  protocol::Delta delta;
  delta.content = answer.content().substr(cursor.content);
  delta.reasoning = answer.reasoning().substr(cursor.reasoning);
  delta.logprobs.assign(answer.logprobs().begin() + static_cast<std::ptrdiff_t>(cursor.logprobs),
                        answer.logprobs().end());
  const std::vector<std::size_t>& changes = answer.tool_call_changes();
  const std::set<std::size_t> changed(changes.begin() + static_cast<std::ptrdiff_t>(cursor.tool_call_changes),
                                      changes.end());
  for (const std::size_t call : changed) delta.tool_calls.push_back(answer.tool_calls()[call]);
  if (delta.content.empty() && delta.reasoning.empty() && delta.logprobs.empty() && changed.empty()) {
    return std::nullopt;
  }
  cursor = {answer.content().size(), answer.reasoning().size(), answer.logprobs().size(), changes.size()};
  return delta;
}

}  // namespace glmhost::daemon
