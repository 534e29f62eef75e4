// Collects a prompt while a template runs, with each piece marked by who wrote it.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "inference/chat/template.h"

namespace glmhost::chat {

class PromptWriter {
 public:
  // The template's own text: markers in it become their tokens.
  PromptWriter& own(std::string_view text) { return append(text, tokenizer::Markers::all); }
  // Text from the request: nothing in it becomes a marker.
  PromptWriter& given(std::string_view text) { return append(text, tokenizer::Markers::none); }

  // The content of the conversation's last message ends here: where an answer that continues it goes on.
  void end_of_final_content() { final_content_ = End{prompt_.parts.size(), last_size()}; }
  bool has_final_content() const { return final_content_.has_value(); }

  // The prompt as it stands ends inside an open <think>.
  void reasoning_is_open() { prompt_.starts_in_reasoning = true; }

  Prompt finish() { return std::move(prompt_); }

  // The prompt up to the end of the last message's content. Needs has_final_content().
  Prompt finish_at_final_content() {
    prompt_.parts.resize(final_content_->parts);
    if (!prompt_.parts.empty()) prompt_.parts.back().text.resize(final_content_->last_size);
    prompt_.starts_in_reasoning = false;
    prompt_.continues_message = true;
    return std::move(prompt_);
  }

 private:
  struct End {
    std::size_t parts;
    std::size_t last_size;
  };

  PromptWriter& append(std::string_view text, tokenizer::Markers markers) {
    if (text.empty()) return *this;
    if (prompt_.parts.empty() || prompt_.parts.back().markers != markers) prompt_.parts.push_back({{}, markers});
    prompt_.parts.back().text += text;
    return *this;
  }

  std::size_t last_size() const { return prompt_.parts.empty() ? 0 : prompt_.parts.back().text.size(); }

  Prompt prompt_;
  std::optional<End> final_content_;
};

}  // namespace glmhost::chat
