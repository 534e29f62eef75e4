#include "inference/tokenizer/tokenizer.h"
#include "inference/tokenizer/utf8.h"

namespace glmhost::tokenizer {

std::string Utf8Stream::push(std::string_view bytes) {
  pending_.append(bytes);
  std::string out;
  out.reserve(pending_.size());
  const std::string_view text = pending_;
  std::size_t position = 0;
  while (position < text.size()) {
    const int length = utf8_sequence_length(text.substr(position));
    if (length < 0) break;  // at most three bytes: they may still become a character
    if (length == 0) {
      out.append(kReplacementCharacter);
      ++position;
    } else {
      out.append(text.substr(position, static_cast<std::size_t>(length)));
      position += static_cast<std::size_t>(length);
    }
  }
  pending_.erase(0, position);
  return out;
}

std::string Utf8Stream::finish() {
  std::string out = replace_invalid_utf8(pending_);
  pending_.clear();
  return out;
}

}  // namespace glmhost::tokenizer
