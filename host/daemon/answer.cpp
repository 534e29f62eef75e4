#include "host/daemon/answer.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace glmhost::daemon {

Answer::Answer(std::string content, std::string reasoning, std::vector<TokenLogprobs> logprobs)
    : content_(std::move(content)), reasoning_(std::move(reasoning)), logprobs_(std::move(logprobs)) {}

void Answer::append(const chat::ReasoningSplitter::Delta& delta) {
  content_ += delta.content;
  reasoning_ += delta.reasoning;
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
    content_ += text;
  }
}

void Answer::end() {
  if (splitter_) append(splitter_->finish());
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
  if (delta.content.empty() && delta.reasoning.empty() && delta.logprobs.empty()) return std::nullopt;
  cursor = {answer.content().size(), answer.reasoning().size(), answer.logprobs().size()};
  return delta;
}

}  // namespace glmhost::daemon
