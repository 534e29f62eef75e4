// A place in a text that is read from front to back: what the parsers of notations share.
#pragma once

#include <cstddef>
#include <string_view>

#include "inference/tokenizer/utf8.h"

namespace glmhost::constraints {

class TextScanner {
 protected:
  explicit TextScanner(std::string_view text) : text_(text) {}

  bool done() const { return position_ == text_.size(); }
  char peek() const { return text_[position_]; }  // not when done
  bool next_is(std::string_view what) const { return text_.substr(position_).starts_with(what); }
  bool take(std::string_view what) {
    if (!next_is(what)) return false;
    position_ += what.size();
    return true;
  }
  // The text must be valid UTF-8.
  char32_t take_character() {
    const char32_t c = tokenizer::utf8_code_point(text_, position_);
    position_ += tokenizer::utf8_length(static_cast<unsigned char>(peek()));
    return c;
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace glmhost::constraints
